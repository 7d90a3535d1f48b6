#!/bin/sh
# Inside a container of compose.yaml: a broker of the name and port given, reached from outside on loopback under that port.
set -eu
cat >/tmp/broker.conf <<SETTINGS
brokerName=$1
listenPort=$2
brokerIP1=127.0.0.1
brokerIP2=$1
namesrvAddr=name-server:9876
storePathRootDir=/var/lib/rocketdiff/store
storePathCommitLog=/var/lib/rocketdiff/store/commitlog
mappedFileSizeCommitLog=16777216
timerWheelEnable=false
SETTINGS
exec java -Xmx256m -Duser.home=/var/lib/rocketdiff -Dtls.server.mode=disabled \
  --add-opens=java.base/sun.nio.ch=ALL-UNNAMED --add-opens=java.base/java.nio=ALL-UNNAMED \
  --add-exports=java.base/jdk.internal.ref=ALL-UNNAMED \
  @/opt/rocketmq/class-path org.apache.rocketmq.broker.BrokerStartup -c /tmp/broker.conf

"""Differences between releases in what every client has, whatever its role: connections, routes, name servers."""

from dataclasses import dataclass

from rocketmq_reference.rules.client.remoting_rules import RemotingRules


@dataclass(frozen=True, slots=True)
class ClientRules:
    """The client's part of a dialect (MQClientInstance, NettyRemotingClient)."""

    remoting: RemotingRules

    def uses_vip_channel(self, chosen: bool | None) -> bool:
        """True if requests to brokers go to the port two below the advertised one; chosen: the setting, None by default."""
        return self.remoting.vip_channel if chosen is None else chosen

"""What an operator does with a cluster over the remoting protocol, whatever it runs on."""

"""Operations on a cluster over the remoting protocol, the same for every backend."""

"""Questions about the case itself: did both programs keep to the line protocol, is it worth judging."""

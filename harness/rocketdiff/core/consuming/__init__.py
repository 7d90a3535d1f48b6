"""What a group of consumers is and does: the plan that both arms' groups get."""

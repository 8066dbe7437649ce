"""Plan the steps that requested metrics need: an ordered graph, with nothing that was not requested."""

let half = \(value : Double) -> { value }

in  half 2

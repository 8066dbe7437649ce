{ id = "a"
, name : "Waiting time"
}

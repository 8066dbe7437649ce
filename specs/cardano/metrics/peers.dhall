-- Propagation to single peers: one sample per observation, or per block for the fastest peer.
let S = ../../schema/package.dhall

let breaks = ../breaks.dhall

let X = S.x

let M = S.metric

let U = S.unit

let observation = ../grains/observation.dhall

let at = observation.at

let peer =
      \(m : { id : Text, name : Text, measure : S.Expression, doc : Text }) ->
        S.Metric::( m /\
          { grain = observation.name, unit = U.second, better = "lower", where = X.column observation.valid })

let elapsed = \(from : S.Instant.Type) -> \(to : S.Instant.Type) -> S.elapsed { from = [ from ], to }

let fastest = { reduction = M.least [ observation.block ] }

in  { noticeFirst =
            peer
              { id = "cdfPeerNoticeFirst"
              , name = "First peer notice"
              , measure = elapsed at.slotStart at.noticed
              , doc =
                  "Time it took for the fastest peer to notice the block (ChainSyncClientEvent.TraceDownloadedHeader), since block's slot start"
              }
        //  fastest
        //  { breaks = breaks.sinceSlotStart }
    , fetchFirst =
            peer
              { id = "cdfPeerFetchFirst"
              , name = "First peer fetch"
              , measure = elapsed at.slotStart at.fetched
              , doc =
                  "Time it took for the fastest peer to fetch the block (BlockFetchClient.CompletedBlockFetch), since block's slot start"
              }
        //  fastest
        //  { breaks = breaks.sinceSlotStart }
    , request =
        peer
          { id = "cdfPeerRequest"
          , name = "Notice to fetch request"
          , measure = elapsed at.noticed at.requested
          , doc =
              "Time it took the peer to request the block body (BlockFetchClient.SendFetchRequest), after it have seen its header"
          }
    , fetch =
        peer
          { id = "cdfPeerFetch"
          , name = "Fetch duration"
          , measure = elapsed at.requested at.fetched
          , doc =
              "Time it took the peer to complete fetching the block (BlockFetchClient.CompletedBlockFetch), after having requested it"
          }
    , announce =
            peer
              { id = "cdfPeerAnnounce"
              , name = "Fetched to announced"
              , measure = elapsed at.fetched at.announced
              , doc =
                  "Time it took a peer to announce the block (ChainSyncServerEvent.TraceChainSyncServerUpdate), since it was fetched"
              }
        //  { breaks = breaks.announcing }
    , send =
        peer
          { id = "cdfPeerSend"
          , name = "Fetched to sending"
          , measure = elapsed at.fetched at.sending
          , doc = "Time until the peer started sending the block (BlockFetchServer.SendBlock), since it was fetched"
          }
    , adoption =
        peer
          { id = "cdfPeerAdoption"
          , name = "Fetched to adopted"
          , measure = elapsed at.fetched at.adopted
          , doc =
              "Time until the peer adopts the block (TraceAddBlockEvent.AddedToCurrentChain), since it was fetched"
          }
    }

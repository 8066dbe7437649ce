"""The text of each kind of log object, after the instant: `{"at":"2026-02-05T18:52:16.43` stands before it.

The field sets and lengths are those of real nodes' logs in the newest generation of names. A text that
depends on nothing but the host is made once a host, the others are filled once a line.
"""

from random import Random
from string import Template

BODIES = {
    "started": 'Forge.Loop.StartLeadershipCheck","data":{"kind":"TraceStartLeadershipCheck","slot":$slot}',
    "context": 'Forge.Loop.BlockContext","data":{"current slot":$slot,"kind":"TraceBlockContext",'
    '"tipBlockHash":"$hash","tipBlockNo":$number,"tipSlot":$tip_slot}',
    "state": 'Forge.Loop.LedgerState","data":{"kind":"TraceLedgerState","slot":$slot}',
    "view": 'Forge.Loop.LedgerView","data":{"kind":"TraceLedgerView","slot":$slot}',
    "leader": 'Forge.Loop.NodeIsLeader","data":{"kind":"TraceNodeIsLeader","slot":$slot}',
    "no_leader": 'Forge.Loop.NodeNotLeader","data":{"kind":"TraceNodeNotLeader","slot":$slot}',
    "ticked": 'Forge.Loop.TickedLedgerState","data":{"kind":"TraceTickedLedgerState","slot":$slot}',
    "snapshot": 'Forge.Loop.MempoolSnapshot","data":{"kind":"TraceMempoolSnapshot","slot":$slot}',
    "forged": 'Forge.Loop.ForgedBlock","data":{"block":"$hash","blockNo":$number,"blockPrev":"$parent",'
    '"kind":"TraceForgedBlock","slot":$slot}',
    "adopted_own": 'Forge.Loop.AdoptedBlock","data":{"blockHash":"$hash","blockSize":$size,'
    '"kind":"TraceAdoptedBlock","slot":$slot,"txIds":[]}',
    "metrics": 'LedgerMetrics","data":{"chainDensity":$density,"delegMapSize":1000000,'
    '"kind":"LedgerMetrics","slot":$slot,"utxoSize":$utxo}',
    "resources": 'Resources","data":{"Alloc":$alloc,"CentiBlkIO":0,"CentiCpu":$cpu,"CentiGC":$gc,'
    '"CentiMut":$mut,"FsRd":$fs_rd,"FsWr":$fs_wr,"GcsMajor":$major,"GcsMinor":$minor,"Heap":$heap,'
    '"Live":$live,"NetRd":$net_rd,"NetWr":$net_wr,"RSS":$rss,"Threads":9,"kind":"ResourceStats"}',
    "header": 'ChainSync.Client.DownloadedHeader","data":{"block":"$hash","blockNo":$number,'
    '"kind":"DownloadedHeader","peer":{"connectionId":"$peer"},"slot":$slot}',
    "requested": 'BlockFetch.Client.SendFetchRequest","data":{"head":"$hash","kind":"SendFetchRequest",'
    '"length":$length,"peer":{"connectionId":"$peer"}}',
    "fetched": 'BlockFetch.Client.CompletedBlockFetch","data":{"block":"$hash","delay":0.2,'
    '"kind":"CompletedBlockFetch","peer":{"connectionId":"$peer"},"size":$size}',
    "announced": 'ChainSync.ServerHeader.Update","data":{"addBlock":"$hash@$slot","blockingRead":$blocking,'
    '"kind":"ChainSyncServer.Update","peer":{"connectionId":"$peer"},"risingEdge":$rising,'
    '"tip":{"block":"$parent","blockNo":$parent_number,"slot":1}}',
    "sent": 'BlockFetch.Server.SendBlock","data":{"block":"$hash","kind":"BlockFetchServer",'
    '"peer":{"connectionId":"$peer"}}',
    "adopted": 'ChainDB.AddBlockEvent.AddedToCurrentChain","data":{"chainLengthDelta":1,"headers":[],'
    '"kind":"AddedToCurrentChain","newTipSelectView":{"chainLength":$number,"issueNo":0},'
    '"newtip":"$hash@$slot"}',
    "ledger_snapshot": 'ChainDB.LedgerEvent.TookSnapshot","data":{"enclosedTime":{"tag":"RisingEdge"},'
    '"kind":"TookSnapshot","snapshot":{"kind":"snapshot"},"tip":"RealPoint"}',
    "asked": 'BlockFetch.Client.AddedFetchRequest","data":{"kind":"AddedFetchRequest","peer":{"connectionId":"$peer"}}',
    "collected": 'TxSubmission.TxInbound.Collected","data":{"count":1,"kind":"Collected",'
    '"peer":{"connectionId":"$peer"}}',
    "processed": 'TxSubmission.TxInbound.Processed","data":{"accepted":1,"kind":"Processed",'
    '"peer":{"connectionId":"$peer"},"rejected":0}',
    "pooled": 'Mempool.AddedTx","data":{"kind":"AddedTx","mempoolSize":{"bytes":$bytes,"numTxs":$txs},'
    '"tx":{"txid":"$txid"}}',
    "refused": 'Mempool.RejectedTx","data":{"err":"BadInputs","kind":"RejectedTx",'
    '"mempoolSize":{"bytes":$bytes,"numTxs":$txs}}',
    "removed": 'Mempool.RemoveTxs","data":{"kind":"RemoveTxs","mempoolSize":{"bytes":0,"numTxs":0},"txs":[]}',
}


def formats(host: str, random: Random) -> dict[str, str]:
    """One %-format a kind of line for a host: `%(slot)s` and the like are what is still to be filled in."""
    return {kind: as_format(body, host, 23 + int(random.random() * 170)) for kind, body in BODIES.items()}


def as_format(body: str, host: str, thread: int) -> str:
    """The whole line after the instant, from the part of it that a kind has of its own."""
    names = {name: f"%({name})s" for name in Template(body).get_identifiers()}
    text = Template(body).substitute(names)
    return f'Z","ns":"{text},"sev":"Info","thread":"{thread}","host":"{host}"}}\n'

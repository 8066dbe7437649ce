"""Formats of log lines after the instant; a line begins with `{"at":"2026-02-05T18:52:16.43`.

Fields and lengths are those of real logs with the newest generation of names. Placeholders are filled per line,
except those that depend only on the host.
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
    "adopted_by_forger": 'Forge.Loop.AdoptedBlock","data":{"blockHash":"$hash","blockSize":$size,'
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
    "request_added": 'BlockFetch.Client.AddedFetchRequest","data":{"kind":"AddedFetchRequest",'
    '"peer":{"connectionId":"$peer"}}',
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


def create_formats(host: str, random: Random) -> dict[str, str]:
    """Create the %-format of each kind of line for a host, with placeholders such as `%(slot)s`."""
    return {kind: create_format(body, host, 23 + int(random.random() * 170)) for kind, body in BODIES.items()}


def create_format(body: str, host: str, thread: int) -> str:
    """Create the format of a line after the instant from the body of its kind."""
    names = {name: f"%({name})s" for name in Template(body).get_identifiers()}
    text = Template(body).substitute(names)
    return f'Z","ns":"{text},"sev":"Info","thread":"{thread}","host":"{host}"}}\n'

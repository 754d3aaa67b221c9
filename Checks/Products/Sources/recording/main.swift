import MiniRex
import MiniRexTesting

let source = BroadcastSource<Int>()
let recorder = Recorder(source.publisher)
source.broadcast(1)
print(recorder.updates)

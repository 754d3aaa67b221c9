import Dispatch
import Glibc
import MiniRex

/// Calls whenever the process gets the signal, which then does nothing else.
func signals(_ number: Int32) -> Broadcaster<Int32> {
  Broadcaster { receive in
    signal(number, SIG_IGN)
    // A dispatch source may be cancelled from any thread, which its type does not say.
    nonisolated(unsafe) let source = DispatchSource.makeSignalSource(signal: number)
    unsafe source.setEventHandler { receive(number) }
    unsafe source.activate()
    return Subscription { unsafe source.cancel() }
  }
}

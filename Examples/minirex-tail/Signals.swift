import Foundation
import MiniRex

/// Calls whenever the process gets the signal, which then does nothing else.
func signals(_ number: Int32) -> Broadcaster<Int32> {
  Broadcaster { receive in
    #if canImport(Darwin)
      // Elsewhere the source replaces what the signal would do.
      signal(number, SIG_IGN)
    #endif
    // Any thread may cancel a source, but its type does not say so.
    nonisolated(unsafe) let source = DispatchSource.makeSignalSource(signal: number)
    let isListening = DispatchSemaphore(value: 0)
    unsafe source.setRegistrationHandler { isListening.signal() }
    unsafe source.setEventHandler { receive(number) }
    unsafe source.activate()
    isListening.wait()
    return Subscription { unsafe source.cancel() }
  }
}

import Foundation
import MiniRex
import TestSupport
import Testing

/// Calls the closure while a change of another property is in delivery.
func whileAChangeIsDelivered(_ body: () async -> Void) async {
  let other = PublishedProperty(0)
  // A property that a computed value has read counts its changes.
  #expect(PublishedValue.computed { read in read(other) }.current() == 0)
  let delivering = Gate()
  let end = Gate()
  let subscription = other.publisher.subscribe { value in
    if value == 1 {
      delivering.open()
      end.wait()
    }
  }
  let thread = Thread { other.value = 1 }
  thread.start()
  delivering.wait()
  await body()
  end.open()
  subscription.invalidate()
}

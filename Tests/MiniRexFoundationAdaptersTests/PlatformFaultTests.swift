import TestSupport

// What the adapters are there to hide, on the platform itself: a test that fails here says that a
// fault is cured. The tests named after each adapter show that it does not have it.
#if os(Linux)
  import Foundation
  import MiniRexFoundationAdapters
  import Observation
  import Synchronization
  import Testing

  @Observable private final class FaultyModel { var number = 1 }

  @Suite(.timeLimit(.minutes(20))) struct PlatformFaultTests {
    private let center = NotificationCenter()
    private let name = Notification.Name("changed")

    @Test func `the centre calls in no order that it keeps`() {
      let calls = Shared<[Int]>([])
      for index in 0..<20 {
        _ = center.addObserver(forName: name, object: nil, queue: nil) { _ in
          calls.change { $0.append(index) }
        }
      }

      center.post(name: name, object: nil)

      #expect(calls.value.sorted() == Array(0..<20))
      #expect(calls.value != Array(0..<20))
    }

    @Test func `the centre still calls who was removed during the post`() {
      let removal = Shared<(@Sendable () -> Void)?>(nil)
      let calls = Shared(0)
      nonisolated(unsafe) let tokens = (0..<2).map { _ in
        center.addObserver(forName: name, object: nil, queue: nil) { _ in
          calls.change { $0 += 1 }
          removal.value?()
        }
      }
      removal.value = { [center] in
        for token in unsafe tokens { center.removeObserver(token) }
      }

      center.post(name: name, object: nil)

      #expect(calls.value == 2)
    }

    @Test func `removing one token twice can remove somebody else's`() {
      let calls = Shared(0)
      let one = center.addObserver(forName: name, object: nil, queue: nil) { _ in }
      center.removeObserver(one)
      let other = center.addObserver(forName: name, object: nil, queue: nil) { _ in
        calls.change { $0 += 1 }
      }

      center.removeObserver(one)
      center.post(name: name, object: nil)

      #expect(calls.value == 0)
      withExtendedLifetime(other) {}
    }

    @Test func `dropping the token does not unregister`() {
      let calls = Shared(0)
      _ = center.addObserver(forName: name, object: nil, queue: nil) { _ in
        calls.change { $0 += 1 }
      }

      center.post(name: name, object: nil)

      #expect(calls.value == 1)
    }

    @Test(.enabled(if: scale >= 1, "a sanitizer keeps an address from being used again"))
    func `an object that has died lends its address to another`() {
      var isConfused = false
      for _ in 0..<1_000 where !isConfused {
        let calls = Shared(0)
        var thing: Thing? = Thing()
        _ = center.addObserver(forName: name, object: thing, queue: nil) { _ in
          calls.change { $0 += 1 }
        }
        thing = nil
        center.post(name: name, object: Thing())
        isConfused = calls.value > 0
      }

      #expect(isConfused)
    }

    @Test func `a value that is posted never is the value that is listened for`() {
      struct Value: Equatable { let number: Int }
      let calls = Shared(0)
      // Kept, or the box of the posted one might get its address.
      let box = Value(number: 1) as AnyObject
      _ = center.addObserver(forName: name, object: box, queue: nil) { _ in
        calls.change { $0 += 1 }
      }

      center.post(name: name, object: Value(number: 1))

      #expect(calls.value == 0)
      withExtendedLifetime(box) {}
    }

    @Test func `with 'queue:' who posts waits, for ever if the queue does`() async {
      await #expect(processExitsWith: .signal(SIGALRM)) {
        let queue = OperationQueue()
        queue.isSuspended = true
        let name = Notification.Name("changed")
        _ = NotificationCenter.default.addObserver(forName: name, object: nil, queue: queue) { _ in
        }
        alarm(1)

        NotificationCenter.default.post(name: name, object: nil)
        exit(0)
      }
    }

    @Test func `an observation is announced once, before the change can be seen`() {
      nonisolated(unsafe) let model = FaultyModel()
      let seen = Shared<[Int]>([])
      withObservationTracking {
        _ = unsafe model.number
      } onChange: {
        seen.change { unsafe $0.append(model.number) }
      }

      unsafe model.number = 2
      unsafe model.number = 3

      #expect(seen.value == [1])
    }

    @Test func `Dispatch leaves its handler of a signal behind`() async {
      await #expect(processExitsWith: .success) {
        let isCancelled = Gate()
        let source = DispatchSource.makeSignalSource(
          signal: SIGTERM, queue: DispatchQueue(label: "test"))
        let isListening = Gate()
        source.setRegistrationHandler { isListening.open() }
        source.setCancelHandler { isCancelled.open() }
        source.activate()
        isListening.wait()
        source.cancel()
        isCancelled.wait()

        var action = sigaction()
        unsafe sigaction(SIGTERM, nil, &action)
        let isDefault = unsafe action.__sigaction_handler.sa_handler == nil
        exit(isDefault ? 1 : 0)
      }
    }
  }
#endif

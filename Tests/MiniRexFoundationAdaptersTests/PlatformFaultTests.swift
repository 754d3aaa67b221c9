import TestSupport

// Faults of the platform that the adapters hide. A test that fails here shows that the platform has
// fixed the fault. The adapters' own tests show that the adapters do not have it.
#if os(Linux)
import Foundation
import MiniRexFoundationAdapters
import Observation
import Synchronization
import Testing

@Observable private final class FaultyModel { var number = 1 }

@Suite(.light) struct PlatformFaultTests {
  private let center = NotificationCenter()
  private let name = Notification.Name("changed")

  @Test func `the center calls observers in no fixed order`() {
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

  @Test func `the center calls observers that were removed during the post`() {
    let removal = Shared<(@Sendable () -> Void)?>(nil)
    let calls = Shared(0)
    nonisolated(unsafe) let observers = (0..<2).map { _ in
      center.addObserver(forName: name, object: nil, queue: nil) { _ in
        calls.change { $0 += 1 }
        removal.value?()
      }
    }
    removal.value = { [center] in
      for observer in unsafe observers { center.removeObserver(observer) }
    }

    center.post(name: name, object: nil)

    #expect(calls.value == 2)
  }

  @Test func `removing one observer twice can remove another observer`() {
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

  @Test func `releasing the observer does not remove it`() {
    let calls = Shared(0)
    _ = center.addObserver(forName: name, object: nil, queue: nil) { _ in
      calls.change { $0 += 1 }
    }

    center.post(name: name, object: nil)

    #expect(calls.value == 1)
  }

  @Test(.enabled(if: scale >= 1, "a sanitizer keeps an address from being used again"))
  func `a new object can match the address of a deallocated object`() {
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

  @Test func `an object filter never matches a boxed value`() {
    struct Value: Equatable { let number: Int }
    let calls = Shared(0)
    // Retain the box, or the box of the posted value may get its address.
    let box = Value(number: 1) as AnyObject
    _ = center.addObserver(forName: name, object: box, queue: nil) { _ in
      calls.change { $0 += 1 }
    }

    center.post(name: name, object: Value(number: 1))

    #expect(calls.value == 0)
    withExtendedLifetime(box) {}
  }

  @Test func `with 'queue:', post blocks until the queue runs`() async {
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

  @Test func `observation tracking fires once, before the change is visible`() {
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

  @Test func `Dispatch does not restore a signal's default action`() async {
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

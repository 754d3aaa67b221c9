import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import Synchronization
import TestSupport
import Testing

@testable import MiniRexDispatchAdapters

/// Signals belong to a process, so each test runs in a process of its own.
@Suite(.light) struct SignalTests {
  @Test func `every subscriber of every publisher receives the signal, and the process continues`()
    async
  {
    await #expect(processExitsWith: .success) {
      let one = DispatchSource.signals(SIGTERM, SIGHUP)
      let recorders = [
        Recorder(one), Recorder(one), Recorder(DispatchSource.signals(SIGTERM)),
      ]

      kill(getpid(), SIGTERM)

      for recorder in recorders {
        guard await recorder.next() == [SIGTERM] else { exit(1) }
      }
      kill(getpid(), SIGHUP)
      guard await recorders[0].next() == [SIGHUP] else { exit(2) }
      guard await recorders[1].next() == [SIGHUP] else { exit(3) }
      guard recorders[2].updates == [SIGTERM] else { exit(4) }
      exit(0)
    }
  }

  @Test func `the signal stops the process again after the last cancellation`() async {
    await #expect(processExitsWith: .signal(SIGTERM)) {
      let one = Recorder(DispatchSource.signals(SIGTERM))
      let other = Recorder(DispatchSource.signals(SIGTERM))
      for _ in 0..<100 {
        kill(getpid(), SIGTERM)
        guard await one.next() == [SIGTERM] else { exit(1) }
      }
      one.invalidate()
      kill(getpid(), SIGTERM)
      guard await other.next() == [SIGTERM] else { exit(2) }

      other.invalidate()
      kill(getpid(), SIGTERM)
      waitForTheEnd()
    }
  }

  @Test func `a subscriber after the last cancellation receives the signal`() async {
    await #expect(processExitsWith: .success) {
      let signals = DispatchSource.signals(SIGTERM)
      for _ in 0..<3 {
        let recorder = Recorder(signals)
        kill(getpid(), SIGTERM)
        guard await recorder.next() == [SIGTERM] else { exit(1) }
        recorder.invalidate()
      }
      exit(0)
    }
  }

  @Test func `the process continues after a cancellation while another subscriber remains`() async {
    await #expect(processExitsWith: .success) {
      let signals = DispatchSource.signals(SIGTERM)
      let others = [Recorder(signals), Recorder(DispatchSource.signals(SIGTERM))]
      for publisher in [signals, DispatchSource.signals(SIGTERM)] {
        Recorder(publisher).invalidate()
        kill(getpid(), SIGTERM)
        for other in others {
          guard await other.next() == [SIGTERM] else { exit(1) }
        }
      }
      exit(0)
    }
  }

  @Test func `the handler runs on the alternate signal stack`() async {
    await #expect(processExitsWith: .success) {
      let recorder = Recorder(DispatchSource.signals(SIGTERM))
      var action = sigaction()
      unsafe sigaction(SIGTERM, nil, &action)
      recorder.invalidate()
      exit(Int32(action.sa_flags) & Int32(SA_ONSTACK) == 0 ? 1 : 0)
    }
  }

  @Test func `a handler whose pipe takes no byte keeps errno`() async {
    await #expect(processExitsWith: .success) {
      let recorder = Recorder(DispatchSource.signals(SIGTERM))
      signalPipe.store(-1, ordering: .releasing)
      // Dispatch blocks signals on its threads.
      var signals = sigset_t()
      unsafe sigemptyset(&signals)
      unsafe sigaddset(&signals, SIGTERM)
      unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
      errno = ENOENT

      raise(SIGTERM)

      let error = errno
      if caughtSignals.load(ordering: .acquiring) == 0 { exit(1) }
      withExtendedLifetime(recorder) {}
      exit(error == ENOENT ? 0 : 2)
    }
  }

  @Test func `canceling restores an earlier action and keeps a later one`()
    async
  {
    await #expect(processExitsWith: .success) {
      signal(SIGHUP, SIG_IGN)
      let ignored = DispatchSource.signals(SIGHUP)
      Recorder(ignored).invalidate()
      kill(getpid(), SIGHUP)

      let taken = Recorder(DispatchSource.signals(SIGTERM))
      signal(SIGTERM, SIG_IGN)
      taken.invalidate()
      kill(getpid(), SIGTERM)
      // When a later signal arrives, the actions for the earlier signals have run.
      let later = Recorder(DispatchSource.signals(SIGUSR1))
      kill(getpid(), SIGUSR1)
      guard await later.next() == [SIGUSR1] else { exit(1) }
      exit(0)
    }
  }

  @Test func `concurrent subscriptions and cancellations restore the default action`() async {
    await #expect(processExitsWith: .signal(SIGHUP)) {
      let signals = DispatchSource.signals(SIGHUP)
      onThreads(4) { _ in
        for round in 0..<200 {
          let publisher = round.isMultiple(of: 2) ? signals : DispatchSource.signals(SIGHUP)
          let subscription = publisher.subscribe { _ in }
          kill(getpid(), SIGHUP)
          subscription.invalidate()
        }
      }
      kill(getpid(), SIGHUP)
      waitForTheEnd()
    }
  }

  @Test func `a program that the process executes inherits no descriptor of a signal`() async {
    await #expect(processExitsWith: .success) {
      let before = inherited()
      let recorder = Recorder(DispatchSource.signals(SIGTERM))
      kill(getpid(), SIGTERM)
      guard await recorder.next() == [SIGTERM] else { exit(1) }
      exit(inherited() == before ? 0 : 2)
    }
  }

  #if os(Linux)
  @Test func `the highest signal number is delivered`() async {
    await #expect(processExitsWith: .success) {
      let last = Recorder(DispatchSource.signals(64, 1))
      kill(getpid(), 64)
      guard await last.next() == [64] else { exit(1) }
      kill(getpid(), 1)
      guard await last.next() == [1] else { exit(2) }
      exit(0)
    }
  }
  #endif

  @Test func `R23 a signal that cannot be caught traps with advice`() async {
    await #expect(processExitsWith: .failure) { _ = DispatchSource.signals(SIGKILL) }
    await #expect(processExitsWith: .failure) { _ = DispatchSource.signals(0) }
    #if os(Linux)
    // The C library reserves signal 33 for its threads.
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = DispatchSource.signals(SIGTERM, 33)
    }
    #expect(advice(result).contains("'signals' cannot catch the signal 33. Omit it."))
    #endif
  }
}

/// Returns the descriptors that an executed program inherits.
private func inherited() -> [Int32] {
  (0..<256).filter { number in
    let flags = fcntl(number, F_GETFD)
    return flags >= 0 && flags & FD_CLOEXEC == 0
  }
}

/// Waits until another thread handles the signal, which stops the process.
///
/// `SIGALRM` fails the test.
private func waitForTheEnd() {
  mustEnd()
  while true { pause() }
}

import MiniRex

/// A `.concatenate`, whose effects were all registered in the commit that returned it.
///
/// Used with exclusive access to the store.
@usableFromInline
class EffectSequence {
  @usableFromInline private(set) final var context: EffectContext
  /// The number of unfinished effects of the current member.
  final var running = 0
  /// `false` if the sequence waits in another sequence.
  final var isStarted = false
  /// `true` if a member failed or was canceled, so no further member runs.
  @usableFromInline final var isStopped = false

  @usableFromInline
  init(in context: EffectContext) {
    self.context = context
  }

  deinit {
    var parent = context.sequence.take()
    ReleaseChain.release(&parent)
  }

  final var group: EffectGroup { context.group }

  /// The enclosing sequence.
  @usableFromInline final var parent: EffectSequence? { context.sequence }
}

/// A sequence with its remaining members, whose type only its store knows.
///
/// Steps refer to their sequence until they are taken, so every sequence is emptied at its end.
@usableFromInline
final class EffectMembers<Action: Sendable>: EffectSequence {
  @usableFromInline typealias Member = [EffectStep<Action>]

  /// The remaining members from the last to the next, except while they are registered.
  private var members: [Member] = []

  /// Begins the registration of the next member.
  @usableFromInline
  func addMember() { members.append([]) }

  /// Adds a step to the member that is registered.
  @usableFromInline
  func add(_ step: EffectStep<Action>) { members[members.count - 1].append(step) }

  /// Ends the registration.
  @usableFromInline
  func close() { members.reverse() }

  @usableFromInline
  func takeNext() -> Member? { isStopped ? nil : members.popLast() }

  /// Takes the steps that will not run, even from the sequences in it.
  @usableFromInline
  func takeRest() -> [Member] {
    var rest: [Member] = []
    var sequences = [self]
    while let sequence = sequences.popLast() {
      for member in sequence.members.reversed() {
        for case .sequence(let inner) in member { sequences.append(inner) }
        rest.append(member)
      }
      sequence.members = []
    }
    return rest
  }
}

/// One step of a member, in the order in which the effects were returned.
@usableFromInline
enum EffectStep<Action: Sendable> {
  case send(RunningEffect, Action)
  case begin(EffectBeginning<Action>)
  case cancel(EffectID, EffectReach)
  case sequence(EffectMembers<Action>)

  /// The effect that waits for the step.
  @usableFromInline var effect: RunningEffect? {
    switch self {
    case .send(let effect, _): effect
    case .begin(let beginning): beginning.effect
    case .cancel, .sequence: nil
    }
  }
}

/// The effects that a waiting `.cancel` or `cancelInFlight` reaches.
///
/// Later commits can register effects with the same ID while it waits.
@usableFromInline
struct EffectReach: Sendable {
  /// The number of the last effect that was registered before the step.
  @usableFromInline let last: Int
  /// The group whose started effects a `.cancel` also reaches, because its own `send` caused them.
  @usableFromInline let group: EffectGroup?

  @usableFromInline
  init(last: Int, group: EffectGroup?) {
    self.last = last
    self.group = group
  }
}

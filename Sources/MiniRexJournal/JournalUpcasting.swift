/// The changes that convert recorded actions and states to their current types.
///
/// ```swift
/// let upcasting = JournalUpcasting()
///   .action { $0.rename("opened", to: "created") }
///   .action { $0["created"]?["by"] = "unknown" }
///   .state { $0["color"] = "white" }
/// let journal = try Journal<Board, BoardAction>(file, upcasting: upcasting)
/// ```
///
/// The first change of an action makes version 2 of version 1, the second version 3 of version 2. States have their own
/// versions. A new line has the newest version. A replay applies the changes from the line's version on, in order, before
/// it decodes. The file keeps its lines.
///
/// Add a change at the end when a type changes, and never remove one: the lines of its version cannot be read without
/// it. A line of a version without a change is ``JournalFailure/newer(number:version:)``: a later version of the program
/// wrote it. The journal then reads and writes nothing.
///
/// A change that throws makes the line unreadable. The changes run on the thread that reads, and must return the same
/// result for the same value.
public struct JournalUpcasting: Sendable {
  typealias Change = @Sendable (inout JournalJSON) throws -> Void

  private(set) var actions: [Change] = []
  private(set) var states: [Change] = []
  /// A Boolean value that indicates whether lines of any version are read without a change.
  var keepsVersions = false

  /// Creates an upcasting without changes: all actions and states have version 1.
  public init() {}

  /// Returns an upcasting with one more version of the actions.
  ///
  /// - Parameter change: Makes an action of the new version of an action of the version before.
  public func action(_ change: @escaping @Sendable (inout JournalJSON) throws -> Void) -> Self {
    var upcasting = self
    upcasting.actions.append(change)
    return upcasting
  }

  /// Returns an upcasting with one more version of the states.
  ///
  /// - Parameter change: Makes a state of the new version of a state of the version before.
  public func state(_ change: @escaping @Sendable (inout JournalJSON) throws -> Void) -> Self {
    var upcasting = self
    upcasting.states.append(change)
    return upcasting
  }
}

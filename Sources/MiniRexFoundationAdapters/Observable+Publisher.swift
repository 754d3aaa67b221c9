public import MiniRex
public import Observation

/// Makes a published value of what an observable object shows.
///
/// ```swift
/// let name = publishedValue(of: model, \.name)
/// let title = publishedValue(of: model) { "\($0.name), \($0.age)" }
/// ```
///
/// It is read now and, after a change of what was read, again by a job on the actor that makes the
/// call: each change counts that is visible between two of these jobs, the latest one always. There
/// the subscribers are called; the first call of each is made inside `subscribe`, wherever that is.
/// Values that equal the one before are skipped.
///
/// The object has to be changed on that actor too, as the compiler demands of all that is not
/// `Sendable` itself: the platform tells of a change before it is made, and not when it is.
///
/// The object is not kept alive, except from a change to the job that reads it. When it is gone, or
/// `read` looks at nothing that can change, the subscriptions end. The value is followed for as
/// long as the publisher is kept or subscribed to. What is then left of it, until the next change,
/// is a few bytes in the object, since the platform has no way to take an observation back.
///
/// - Parameters:
///   - object: What to observe.
///   - isolation: The actor that the object belongs to; leave it out.
///   - read: Called on that actor; a key path will do.
///   - fileID: Where it is written, for an instrument.
///   - line: Where it is written, for an instrument.
public func publishedValue<Object: AnyObject & Observable, Value: Sendable>(
  of object: Object, isolation: isolated any Actor = #isolation,
  _ read: @escaping (Object) -> Value, fileID: String = #fileID, line: Int = #line
) -> PublishedValue<Value> {
  let observer = Observer(of: object, on: isolation) { [weak object] in object.map(read) }
  let first = observer.observe() ?? read(object)
  let lineage = Lineage.ofSource("observed \(Object.self)", fileID, line)
  let changes = Broadcaster<Value>(watchedBy: lineage, current: { nil }) { receive in
    observer.begin(receive)
    return Subscription { observer.end() }
  }
  return changes.publishedValue(initial: first)
}

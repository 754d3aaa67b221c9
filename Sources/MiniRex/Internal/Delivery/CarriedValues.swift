public import Synchronization

/// A task-local that updates carry, without the type of its value.
struct CarriedLocal: Sendable {
  let id: ObjectIdentifier
  /// Returns the present value.
  fileprivate let capture: @Sendable () -> any CarriedValue

  init<Value: Sendable>(_ local: TaskLocal<Value>) {
    id = ObjectIdentifier(local)
    capture = { TypedCarriedValue(local) }
  }
}

/// A value of a task-local, without its type.
private protocol CarriedValue: Sendable {
  func run(_ body: () -> Void)

  func runAsync(_ body: () async -> Void) async
}

private struct TypedCarriedValue<Value: Sendable>: CarriedValue {
  private let local: TaskLocal<Value>
  private let value: Value

  init(_ local: TaskLocal<Value>) {
    self.local = local
    value = local.get()
  }

  func run(_ body: () -> Void) { local.withValue(value, operation: body) }

  func runAsync(_ body: () async -> Void) async {
    await local.withValue(value, operation: body)
  }
}

/// The values of the carried task-locals of one sender.
@usableFromInline
package final class CarriedValues: Sendable {
  private let values: [any CarriedValue]

  fileprivate init(_ locals: [CarriedLocal]) {
    values = locals.map { $0.capture() }
  }

  /// The values of the current thread or task, or `nil` if nothing is carried.
  @inlinable
  package static var current: CarriedValues? {
    CarriedLocals.address.load(ordering: .acquiring) == 0 ? nil : CarriedLocals.capture()
  }

  /// Runs the body with the values.
  @usableFromInline
  package func run(_ body: () -> Void) { run(0, body) }

  private func run(_ index: Int, _ body: () -> Void) {
    if index == values.count { return body() }
    values[index].run { run(index + 1, body) }
  }

  /// Runs the asynchronous body with the values.
  func runAsync(_ body: () async -> Void) async { await runAsync(0, body) }

  private func runAsync(_ index: Int, _ body: () async -> Void) async {
    if index == values.count { return await body() }
    await values[index].runAsync { await runAsync(index + 1, body) }
  }
}

/// The task-locals that updates carry in this process.
@usableFromInline
enum CarriedLocals {
  private final class List: Sendable {
    let locals: [CarriedLocal]

    init(_ locals: [CarriedLocal]) {
      self.locals = locals
    }
  }

  private struct Registry: Sendable {
    /// The registered task-locals, with an element for each registration.
    var locals: [CarriedLocal] = []
    /// A sender may be reading an earlier list, so all of them stay in memory.
    var lists: [List] = []
  }

  private static let registry = Lock(Registry())
  /// The address of the present list, or 0 without a carried task-local.
  @usableFromInline static let address = Atomic<UInt>(0)

  static func add(_ locals: [CarriedLocal]) {
    change { $0 += locals }
  }

  static func remove(_ locals: [CarriedLocal]) {
    change { present in
      for local in locals {
        if let index = present.lastIndex(where: { $0.id == local.id }) { present.remove(at: index) }
      }
    }
  }

  private static func change(_ body: (inout [CarriedLocal]) -> Void) {
    registry.withLock { registry in
      body(&registry.locals)
      var ids: Set<ObjectIdentifier> = []
      let list = List(registry.locals.filter { ids.insert($0.id).inserted })
      registry.lists.append(list)
      address.store(
        list.locals.isEmpty
          ? 0 : UInt(bitPattern: unsafe Unmanaged.passUnretained(list).toOpaque()),
        ordering: .releasing)
    }
  }

  @usableFromInline
  static func capture() -> CarriedValues? {
    let address = address.load(ordering: .acquiring)
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: address) else { return nil }
    let list = unsafe Unmanaged<List>.fromOpaque(pointer).takeUnretainedValue()
    return CarriedValues(list.locals)
  }
}

/// An update that is stored for a later delivery, with the carried values of its sender.
@usableFromInline
package struct Carried<Update: Sendable>: Sendable {
  @usableFromInline package let update: Update
  @usableFromInline let values: CarriedValues?

  @inlinable
  package init(_ update: Update) {
    self.update = update
    values = .current
  }

  /// Calls the body with the update, and with the carried values.
  @inlinable
  package func deliver(_ body: (Update) -> Void) {
    if let values { values.run { body(update) } } else { body(update) }
  }

  /// Calls the asynchronous body with the update, and with the carried values.
  func deliverAsync(_ body: (Update) async -> Void) async {
    if let values { await values.runAsync { await body(update) } } else { await body(update) }
  }
}

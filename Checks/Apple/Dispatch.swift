// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, TypeNamesShouldBeCapitalized
// The part of Dispatch that the package uses on Apple platforms, for type-checking on Linux, where Dispatch has no
// source for files.

open class DispatchObject: @unchecked Sendable {
  public init() {}

  public func activate() {}
}

open class DispatchQueue: DispatchObject, @unchecked Sendable {
  public static let main = DispatchQueue(label: "")

  public init(label: String) {}

  public static func global() -> DispatchQueue { main }

  public func async(execute work: @escaping @Sendable @convention(block) () -> Void) {}

  public func asyncAfter(
    deadline: DispatchTime, execute work: @escaping @Sendable @convention(block) () -> Void
  ) {}

  public func sync<Result>(execute work: () throws -> Result) rethrows -> Result { try work() }
}

public struct DispatchTime: Comparable, Sendable {
  public var uptimeNanoseconds: UInt64 { 0 }

  public static func now() -> DispatchTime { DispatchTime() }

  public static func < (one: DispatchTime, other: DispatchTime) -> Bool { false }

  public static func + (time: DispatchTime, interval: DispatchTimeInterval) -> DispatchTime {
    time
  }
}

extension DispatchTime {
  public static func + (time: DispatchTime, seconds: Double) -> DispatchTime { time }
}

public enum DispatchTimeoutResult: Sendable {
  case success, timedOut
}

public enum DispatchTimeInterval: Equatable, Sendable {
  case seconds(Int)
  case milliseconds(Int)
  case microseconds(Int)
  case nanoseconds(Int)
  case never
}

public final class DispatchGroup: DispatchObject, @unchecked Sendable {
  public func enter() {}

  public func leave() {}

  public func notify(
    queue: DispatchQueue, execute work: @escaping @Sendable @convention(block) () -> Void
  ) {}

  public func wait() {}
}

public final class DispatchSemaphore: DispatchObject, @unchecked Sendable {
  public init(value: Int) {}

  public func wait() {}

  public func wait(timeout: DispatchTime) -> DispatchTimeoutResult { .success }

  @discardableResult
  public func signal() -> Int { 0 }
}

public protocol DispatchSourceProtocol: AnyObject {}

extension DispatchSourceProtocol {
  public func setEventHandler(handler: (@Sendable @convention(block) () -> Void)?) {}

  public func setCancelHandler(handler: (@Sendable @convention(block) () -> Void)?) {}

  public func activate() {}

  public func cancel() {}

  public var data: UInt { 0 }
}

public protocol DispatchSourceRead: DispatchSourceProtocol {}

public protocol DispatchSourceTimer: DispatchSourceProtocol {}

extension DispatchSourceTimer {
  public func schedule(
    deadline: DispatchTime, repeating interval: DispatchTimeInterval = .never,
    leeway: DispatchTimeInterval = .nanoseconds(0)
  ) {}
}

public protocol DispatchSourceFileSystemObject: DispatchSourceProtocol {}

extension DispatchSourceFileSystemObject {
  public var data: DispatchSource.FileSystemEvent { [] }
}

open class DispatchSource: DispatchObject, @unchecked Sendable {
  public struct FileSystemEvent: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }

    public static let delete = FileSystemEvent(rawValue: 1)
    public static let write = FileSystemEvent(rawValue: 2)
    public static let extend = FileSystemEvent(rawValue: 4)
    public static let attrib = FileSystemEvent(rawValue: 8)
    public static let link = FileSystemEvent(rawValue: 16)
    public static let rename = FileSystemEvent(rawValue: 32)
    public static let revoke = FileSystemEvent(rawValue: 64)
  }

  public class func makeFileSystemObjectSource(
    fileDescriptor: Int32, eventMask: FileSystemEvent, queue: DispatchQueue? = nil
  ) -> any DispatchSourceFileSystemObject { fatalError("This is here to be type-checked.") }

  public class func makeReadSource(
    fileDescriptor: Int32, queue: DispatchQueue? = nil
  ) -> any DispatchSourceRead { fatalError("This is here to be type-checked.") }

  public class func makeTimerSource(queue: DispatchQueue? = nil) -> any DispatchSourceTimer {
    fatalError("This is here to be type-checked.")
  }
}

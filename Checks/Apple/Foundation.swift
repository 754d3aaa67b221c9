// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, TypeNamesShouldBeCapitalized, NoLeadingUnderscores
// The part of Foundation outside FoundationEssentials that the package uses on Apple platforms, for type-checking on
// Linux.
@_exported public import Darwin
@_exported public import Dispatch
@_exported public import FoundationEssentials

// MARK: Objects

public protocol NSObjectProtocol: AnyObject {}

open class NSObject: NSObjectProtocol {
  public init() {}

  public func addObserver(
    _ observer: NSObject, forKeyPath keyPath: String, options: NSKeyValueObservingOptions,
    context: UnsafeMutableRawPointer?
  ) {}

  public func removeObserver(
    _ observer: NSObject, forKeyPath keyPath: String, context: UnsafeMutableRawPointer?
  ) {}

  open func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {}

  open func copy() -> Any { self }
}

public final class NSNull: NSObject {}

public let NSFilePathErrorKey = "NSFilePath"
public let NSUnderlyingErrorKey = "NSUnderlyingError"
public let NSURLErrorKey = "NSURL"
public let NSURLErrorDomain = "NSURLErrorDomain"

open class NSError: NSObject, Error, @unchecked Sendable {
  public let domain = ""
  public let code = 0
}

/// The compiler calls it for `error as NSError`.
public func _convertErrorToNSError(_ error: any Error) -> NSError { NSError() }

/// It hides the type of FoundationEssentials, which has the codes of Linux.
public struct POSIXError: Error, Hashable, Sendable {
  public typealias Code = POSIXErrorCode

  public let code: Code

  public init(_ code: Code, userInfo: [String: Any] = [:]) { self.code = code }

  public var userInfo: [String: Any] { [:] }
}

public struct CharacterSet: Sendable {
  public static let alphanumerics = CharacterSet()
}

extension StringProtocol {
  public func addingPercentEncoding(withAllowedCharacters allowed: CharacterSet) -> String? { nil }
}

// MARK: Key-value observing

public struct NSKeyValueObservingOptions: OptionSet, Sendable {
  public let rawValue: UInt

  public init(rawValue: UInt) { self.rawValue = rawValue }

  public static let new = NSKeyValueObservingOptions(rawValue: 1)
  public static let old = NSKeyValueObservingOptions(rawValue: 2)
  public static let initial = NSKeyValueObservingOptions(rawValue: 4)
  public static let prior = NSKeyValueObservingOptions(rawValue: 8)
}

public struct NSKeyValueChangeKey: Hashable, Sendable {
  public static let newKey = NSKeyValueChangeKey()
  public static let oldKey = NSKeyValueChangeKey()
  public static let indexesKey = NSKeyValueChangeKey()
  public static let notificationIsPriorKey = NSKeyValueChangeKey()
}

public struct IndexSet: Equatable, Hashable, Sendable {}

public struct NSKeyValueObservedChange<Value> {
  public let newValue: Value?
  public let oldValue: Value?
  public let indexes: IndexSet?
  public let isPrior: Bool
}

public class NSKeyValueObservation: NSObject {
  public func invalidate() {}
}

extension NSObjectProtocol where Self: NSObject {
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
    changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    fatalError("This is here to be type-checked.")
  }
}

// MARK: Notifications

public struct Notification {
  public struct Name: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
  }

  public var name: Name
  public var object: Any?
  public var userInfo: [AnyHashable: Any]?
}

extension NotificationCenter {
  public func addObserver(
    forName name: Notification.Name?, object: Any?, queue: OperationQueue?,
    using block: @escaping @Sendable (Notification) -> Void
  ) -> any NSObjectProtocol {
    fatalError("This is here to be type-checked.")
  }

  public func removeObserver(_ observer: Any) {}

  public func post(name: Notification.Name, object: Any?, userInfo: [AnyHashable: Any]? = nil) {}
}

// MARK: Threads, queues, and processes

open class Thread: NSObject, @unchecked Sendable {
  public var stackSize = 0

  public init(block: @escaping @Sendable () -> Void) {}

  public class func detachNewThread(_ block: @escaping @Sendable () -> Void) {}

  public func start() {}
}

open class OperationQueue: NSObject, @unchecked Sendable {
  open func addOperation(_ block: @escaping @Sendable () -> Void) {}
}

open class FileHandle: NSObject, @unchecked Sendable {
  public var fileDescriptor: Int32 { 0 }

  public class var nullDevice: FileHandle { FileHandle() }

  public func close() throws {}
}

open class Pipe: NSObject, @unchecked Sendable {
  public var fileHandleForReading: FileHandle { FileHandle() }
}

open class Process: NSObject, @unchecked Sendable {
  public var executableURL: URL?
  public var arguments: [String]?
  public var environment: [String: String]?
  public var currentDirectoryURL: URL?
  public var standardInput: Any?
}

// MARK: Transfers

open class URLResponse: NSObject, @unchecked Sendable {
  public var expectedContentLength: Int64 { 0 }
}

open class HTTPURLResponse: URLResponse, @unchecked Sendable {
  public var statusCode: Int { 0 }

  public func value(forHTTPHeaderField field: String) -> String? { nil }
}

public struct URLRequest: Sendable {
  public var url: URL?
  public var httpMethod: String?
}

public struct URLError: Error {
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    public static let unknown = Code(rawValue: -1)
  }

  public init(_ code: Code, userInfo: [String: Any] = [:]) {}
}

public protocol URLSessionDelegate: NSObjectProtocol, Sendable {}

public protocol URLSessionTaskDelegate: URLSessionDelegate {
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64,
    totalBytesSent: Int64, totalBytesExpectedToSend: Int64)
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}

public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)
  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
}

open class URLSessionTask: NSObject, @unchecked Sendable {
  public var delegate: (any URLSessionTaskDelegate)?

  public func resume() {}

  public func cancel() {}
}

open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}

open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {}

open class URLSession: NSObject, @unchecked Sendable {
  public enum ResponseDisposition: Sendable {
    case cancel, allow
  }

  public func dataTask(with request: URLRequest) -> URLSessionDataTask { URLSessionDataTask() }

  public func uploadTask(with request: URLRequest, from body: Data) -> URLSessionUploadTask {
    URLSessionUploadTask()
  }
}

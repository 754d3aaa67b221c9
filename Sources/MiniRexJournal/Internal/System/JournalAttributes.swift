internal import CLibrary

/// The owner, the permissions, and the extended attributes that a file passes to the file that replaces or copies it.
struct JournalAttributes {
  private let file: JournalDescriptor
  private let status: stat

  init(of file: JournalDescriptor) throws(JournalFailure) {
    self.file = file
    status = try fileStatus(of: file.number)
  }

  /// Makes the new file accessible to the same users.
  ///
  /// Throws `EPERM` if this user may not give the file its owner or group: the service that owns the file could not
  /// write the new file.
  func apply(to new: JournalDescriptor) throws(JournalFailure) {
    let own = try fileStatus(of: new.number)
    if own.st_uid != status.st_uid || own.st_gid != status.st_gid {
      try check { fchown(new.number, status.st_uid, status.st_gid) }
    }
    try copyExtendedAttributes(from: file.number, to: new.number)
    // The last call, because the calls before it change the mode.
    try check { fchmod(new.number, status.st_mode & 0o7777) }
  }

  /// Makes a copy accessible to the same users, where this user may do that.
  ///
  /// A user who may read a file of another user may also copy it.
  func applyIfPermitted(to new: JournalDescriptor) throws(JournalFailure) {
    if (try? apply(to: new)) != nil { return }
    // The copy stays with this user, who alone gets access.
    try check { fchmod(new.number, status.st_mode & 0o700 | 0o400) }
  }

  /// Gives a new folder the owner, and the permissions that its files have.
  func apply(toFolder folder: JournalDescriptor) throws(JournalFailure) {
    let own = try fileStatus(of: folder.number)
    if own.st_uid != status.st_uid || own.st_gid != status.st_gid {
      try check { fchown(folder.number, status.st_uid, status.st_gid) }
    }
    // A user who may read the files may search the folder.
    let mode = status.st_mode & 0o666
    try check { fchmod(folder.number, mode | (mode & 0o444) >> 2 | 0o700) }
  }
}

#if canImport(Darwin)
private func copyExtendedAttributes(from file: Int32, to new: Int32) throws(JournalFailure) {
  try check { fcopyfile(file, new, nil, copyfile_flags_t(COPYFILE_ACL | COPYFILE_XATTR)) }
}
#else
private typealias List = @convention(c) (Int32, UnsafeMutableRawPointer?, Int) -> Int
private typealias Get =
  @convention(c) (Int32, UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int) -> Int
private typealias Set =
  @convention(c) (Int32, UnsafePointer<CChar>, UnsafeRawPointer?, Int, Int32) -> Int32
private typealias Remove = @convention(c) (Int32, UnsafePointer<CChar>) -> Int32

/// The calls for extended attributes, which the compiler does not import from the C library.
///
/// The functions get buffers with their sizes, and names that end with NUL.
@safe private struct ExtendedAttributes {
  private let list: List
  private let get: Get
  private let set: Set
  private let remove: Remove

  init?() {
    guard let list = unsafe function("flistxattr", as: List.self),
      let get = unsafe function("fgetxattr", as: Get.self),
      let set = unsafe function("fsetxattr", as: Set.self),
      let remove = unsafe function("fremovexattr", as: Remove.self)
    else { return nil }
    unsafe (self.list, self.get, self.set, self.remove) = (list, get, set, remove)
  }

  /// The names of the user's attributes, and of the access control list.
  func names(of file: Int32) -> [String] {
    let bytes = unsafe bytes { unsafe list(file, $0, $1) } ?? []
    return bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
      .filter { $0.hasPrefix("user.") || $0 == accessList }
  }

  func value(_ name: String, of file: Int32) -> [UInt8]? {
    unsafe bytes { unsafe get(file, name, $0, $1) }
  }

  func write(_ value: [UInt8], _ name: String, to file: Int32) throws(JournalFailure) {
    try check { unsafe set(file, name, value, value.count, 0) }
  }

  func delete(_ name: String, of file: Int32) throws(JournalFailure) {
    try check { unsafe remove(file, name) }
  }

  /// Reads the size, then the bytes, until the size has not grown.
  private func bytes(_ read: (UnsafeMutableRawPointer?, Int) -> Int) -> [UInt8]? {
    while true {
      let size = read(nil, 0)
      if size < 0 { return nil }
      var bytes = [UInt8](repeating: 0, count: size)
      let count = unsafe bytes.withUnsafeMutableBytes { unsafe read($0.baseAddress, $0.count) }
      if count >= 0 { return Array(bytes.prefix(count)) }
      if errno != ERANGE { return nil }
    }
  }
}

private func function<Function>(_ name: String, as type: Function.Type) -> Function? {
  unsafe dlsym(nil, name).map { unsafe unsafeBitCast($0, to: type) }
}

private func copyExtendedAttributes(from file: Int32, to new: Int32) throws(JournalFailure) {
  guard let attributes = ExtendedAttributes() else { return }
  let names = attributes.names(of: file)
  for name in names {
    if let value = attributes.value(name, of: file) {
      try attributes.write(value, name, to: new)
    }
  }
  // The folder can have given the new file an access control list that the old file does not have.
  for name in attributes.names(of: new) where !names.contains(name) {
    try attributes.delete(name, of: new)
  }
}

private let accessList = "system.posix_acl_access"
#endif

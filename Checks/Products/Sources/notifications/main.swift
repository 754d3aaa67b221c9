import Foundation
import MiniRex
import MiniRexFoundationAdapters

// Uses adapters that need all of Foundation. The same import provides the smaller modules.
let center = NotificationCenter.default
let posted = center.broadcaster(for: Notification.Name("posted")).subscribe { print($0) }
let program = try await Process.task(URL(filePath: "/bin/echo"), ["done"]).value
print(program)
let onQueue = DispatchSource.signals(15).receive(on: DispatchQueue(label: "queue"))
let size = try await URL(filePath: CommandLine.arguments[0]).readTask().value.count
print(size > 0)
withExtendedLifetime((posted, onQueue)) {}

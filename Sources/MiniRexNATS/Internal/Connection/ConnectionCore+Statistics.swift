#if NATS
internal import CNATS
internal import MiniRex

extension ConnectionCore {
  /// The counters of lost connections and of the current one.
  var statistics: NATSStatistics {
    let (handle, result) = state.withLock { state in
      var result = state.earlier
      if let handle = state.handle {
        result.count(handle)
        result.queuedBytes = max(0, Int(natsConnection_Buffered(handle.connection.pointer)))
      }
      if case .waiting(_, let bytes) = state.phase { result.queuedBytes += bytes }
      return (state.handle, result)
    }
    handle?.ping()
    var statistics = result
    statistics.reconnects = max(0, connection - 1)
    statistics.dropped = droppedCount
    return statistics
  }
}

extension NATSStatistics {
  /// Adds the counters of one connection of libnats.
  mutating func count(_ handle: LibNATSConnection) {
    roundTripTime = handle.roundTripTime ?? roundTripTime
    var counts: OpaquePointer?
    guard natsStatistics_Create(&counts) == NATS_OK else { return }
    defer { natsStatistics_Destroy(counts) }
    var (messagesIn, bytesIn): (UInt64, UInt64) = (0, 0)
    var (messagesOut, bytesOut): (UInt64, UInt64) = (0, 0)
    guard natsConnection_GetStats(handle.connection.pointer, counts) == NATS_OK,
      natsStatistics_GetCounts(counts, &messagesIn, &bytesIn, &messagesOut, &bytesOut, nil)
        == NATS_OK
    else { return }
    self.messagesIn += Int(messagesIn)
    self.bytesIn += Int(bytesIn)
    self.messagesOut += Int(messagesOut)
    self.bytesOut += Int(bytesOut)
  }
}
#endif

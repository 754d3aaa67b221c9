#if NATS
import Bare
import Foundation

func bareSeconds(_ count: Int, _ size: Int, _ url: String) -> Double {
  checked(bare_messages(url, Int64(count), Int32(size)))
}

func bareRequests(_ count: Int, _ url: String) -> [Double] {
  var nanoseconds = [Int64](repeating: 0, count: count)
  _ = checked(Double(bare_requests(url, Int64(count), &nanoseconds)))
  return nanoseconds.map { Double($0) }
}

func bareSubscription(_ count: Int, _ url: String) -> Double {
  checked(bare_subscription(url, Int64(count)))
}

func heapBytes() -> Double { Double(heap_bytes()) }

func checked(_ result: Double) -> Double {
  if result < 0 { fatalError("The baseline with libnats failed.") }
  return result
}

func median(_ numbers: [Double]) -> Double { numbers.sorted()[numbers.count / 2] }
#endif

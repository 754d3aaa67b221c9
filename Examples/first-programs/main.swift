import Foundation
import MiniRex
import MiniRexFoundationAdapters

let say: @Sendable (String) -> Void = { line in
  FileHandle.standardOutput.write(Data("\(line)\n".utf8))
}
let bag = SubscriptionBag()

func file(_ path: String) -> URL { URL(filePath: path) }

let arguments = Array(CommandLine.arguments.dropFirst())
switch (arguments.first, arguments.dropFirst().first) {
case ("greet", let path?):
  greet(as: Settings.following(file(path)), log: say).store(in: bag)
case ("chat", let port?):
  chat(arrivals(at: "127.0.0.1", UInt16(port) ?? 0), log: say).store(in: bag)
case ("download", let folder?):
  download(arguments.dropFirst(2).compactMap(URL.init), into: file(folder)).subscribe {
    switch $0 {
    case .progress(let part): say("\(Int(part * 100)) %")
    case .finished(.success(let files)):
      for file in files { say(file.path) }
      exit(0)
    case .finished(.failure(let failure)):
      say("\(failure)")
      exit(1)
    }
  }
  .store(in: bag)
case ("search", let path?):
  let search = Search { lines(of: file(path), with: $0) }
  search.state.subscribe { say("\($0)") }.store(in: bag)
  Thread.detachNewThread {
    while let line = readLine() { search.text.value = line }
  }
case ("bridge", nil):
  let bridge = PlayerBridge(.default)
  bridge.title.subscribe { say("title: \($0 ?? "none")") }.store(in: bag)
  for title in ["Overture", "Overture", "Aria"] {
    NotificationCenter.default.post(
      name: .trackDidChange, object: nil, userInfo: ["title": title])
  }
  exit(0)
default:
  say("usage: first-programs greet FILE | chat PORT | download FOLDER URL… | search FILE | bridge")
  exit(2)
}
dispatchMain()

"""Files that `tools/fathom perfetto` and `flame` write, read by others' programs. `make test-host`.

Perfetto's by Debian's python3-protobuf, with the messages described here as Perfetto's .proto files have them; speedscope's by the JSON
schema of its package, which npm downloads; the script in a flame graph by node, with as much of a browser's document as it uses.
"""
import json
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
for folder in ("qemu", "tools"):
    sys.path.insert(0, str(HERE.parent / folder))

import pftrace  # noqa: E402
from guest import BUILDS, ROOT  # noqa: E402
from test_pictures import machine  # noqa: E402, F401

SPEEDSCOPE = "1.25.0"
# {message: [(name, number, type or message, repeated)]}
MESSAGES = {
    "Trace": [("packet", 1, "TracePacket", True)],
    "TracePacket": [
        ("timestamp", 8, "uint64", False),
        ("trusted_packet_sequence_id", 10, "uint32", False),
        ("track_event", 11, "TrackEvent", False),
        ("interned_data", 12, "InternedData", False),
        ("sequence_flags", 13, "uint32", False),
        ("track_descriptor", 60, "TrackDescriptor", False),
    ],
    "InternedData": [("event_names", 2, "EventName", True), ("debug_annotation_names", 3, "DebugAnnotationName", True)],
    "EventName": [("iid", 1, "uint64", False), ("name", 2, "string", False)],
    "DebugAnnotationName": [("iid", 1, "uint64", False), ("name", 2, "string", False)],
    "TrackDescriptor": [
        ("uuid", 1, "uint64", False),
        ("name", 2, "string", False),
        ("process", 3, "ProcessDescriptor", False),
        ("thread", 4, "ThreadDescriptor", False),
        ("parent_uuid", 5, "uint64", False),
        ("counter", 8, "CounterDescriptor", False),
    ],
    "ProcessDescriptor": [("pid", 1, "int32", False), ("process_name", 6, "string", False)],
    "ThreadDescriptor": [("pid", 1, "int32", False), ("tid", 2, "int32", False), ("thread_name", 5, "string", False)],
    "CounterDescriptor": [],
    "TrackEvent": [
        ("debug_annotations", 4, "DebugAnnotation", True),
        ("type", 9, "int32", False),
        ("name_iid", 10, "uint64", False),
        ("track_uuid", 11, "uint64", False),
        ("categories", 22, "string", True),
        ("counter_value", 30, "int64", False),
        ("flow_ids", 47, "fixed64", True),
        ("terminating_flow_ids", 48, "fixed64", True),
    ],
    "DebugAnnotation": [
        ("name_iid", 1, "uint64", False),
        ("uint_value", 3, "uint64", False),
        ("int_value", 4, "int64", False),
        ("string_value", 6, "string", False),
    ],
}


def trace_class():
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="judge.proto", package="judge", syntax="proto2")
    kinds = descriptor_pb2.FieldDescriptorProto
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, number, kind, repeated in fields:
            one = message.field.add(name=field, number=number, label=kinds.LABEL_REPEATED if repeated else kinds.LABEL_OPTIONAL)
            if kind in MESSAGES:
                one.type, one.type_name = kinds.TYPE_MESSAGE, f".judge.{kind}"
            else:
                one.type = getattr(kinds, f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName("judge.Trace"))


def unknown_fields(message):
    """Numbers of fields that the description does not have, in it or below."""
    found = [field.field_number for field in message.UnknownFields()]
    for field, value in message.ListFields():
        if field.message_type:
            for one in value if field.label == field.LABEL_REPEATED else [value]:
                found += unknown_fields(one)
    return found


def slices_of(trace):
    """[(track, name, begin, end)] and {flow: number of steps}."""
    names, tracks, found, flows = {}, {}, [], {}
    for packet in trace.packet:
        names.update((one.iid, one.name) for one in packet.interned_data.event_names)
        if packet.HasField("track_descriptor"):
            tracks[packet.track_descriptor.uuid] = (packet.track_descriptor.name, [])
        if packet.HasField("track_event"):
            event = packet.track_event
            track, stack = tracks[event.track_uuid]
            for flow in [*event.flow_ids, *event.terminating_flow_ids]:
                flows[flow] = flows.get(flow, 0) + 1
            if event.type == 1:
                stack.append((names[event.name_iid], packet.timestamp))
            elif event.type == 2:
                found.append((track, *stack.pop(), packet.timestamp))
    return sorted(found), flows


@pytest.mark.parametrize(
    "commands",
    [
        "echo function_graph > current_tracer; hackbench 1 2 > /dev/null",
        "echo sched:* irq:* kmem:* power:* > set_event; echo 1 > options/stacktrace; hackbench 1 2 > /dev/null",
    ],
)
def test_protobuf_reads_the_same(machine, commands):  # noqa: F811
    machine.record(commands)
    machine.fathom("perfetto", "-o", "out", "--counter", "kmalloc.bytes_req", "live")
    data = (machine.folder / "out").read_bytes()
    trace = trace_class()()
    assert trace.ParseFromString(data) == len(data) and trace.IsInitialized() and not unknown_fields(trace)
    ours = pftrace.Trace(data)
    slices, flows = slices_of(trace)
    assert len(slices) > 20
    assert slices == sorted((track.name, one[0], one[1], one[2]) for track in ours.tracks.values() for one in track.slices)
    assert flows == {number: len(steps) for number, steps in ours.flows.items()}


def speedscope_package():
    """npm's archive of it."""
    folder = BUILDS["gcc"] / "host"
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / f"speedscope-{SPEEDSCOPE}.tgz"
    if not archive.exists():
        subprocess.run(["npm", "pack", "--silent", f"speedscope@{SPEEDSCOPE}"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return archive


@pytest.fixture(scope="module")
def schema():
    """The JSON schema of speedscope's package."""
    with tarfile.open(speedscope_package()) as files:
        return json.load(files.extractfile("package/dist/release/file-format-schema.json"))


@pytest.mark.parametrize(
    "commands",
    [
        "echo function_graph > current_tracer; hackbench 1 2 > /dev/null",
        "echo 1 > options/stacktrace; echo sched:sched_switch > set_event; hackbench 1 2 > /dev/null",
    ],
)
def test_speedscope_takes_it(machine, schema, commands):  # noqa: F811
    import jsonschema

    machine.record(commands)
    machine.fathom("flame", "--speedscope", "out.json", "live")
    scope = json.loads((machine.folder / "out.json").read_text())
    jsonschema.validate(scope, schema)
    assert scope["profiles"]


DOCUMENT = """
const listeners = {}, words = [];
const element = (more) => ({ style: {}, attributes: {}, textContent: "", setAttribute(name, value) { this.attributes[name] = +value; },
                             addEventListener(kind, what) { this.click = what; }, ...more });
const ids = { reset: element(), search: element(), matched: element() };
const groups = BOXES.map(box => { const rect = element(), text = element();
  return element({ dataset: box, rect, text, querySelector: name => name === "rect" ? rect : text }); });
globalThis.document = { documentElement: element(), querySelectorAll: () => groups, getElementById: id => ids[id] };
globalThis.window = { addEventListener: (kind, what) => { listeners[kind] = what; } };
globalThis.prompt = () => words.shift();
globalThis.alert = text => { ids.alert = text; };
"""
DRIVE = """
const of = name => groups.find(group => group.dataset.name === name);
const said = {};
of("b").click();
said.zoomed = groups.filter(group => group.style.display !== "none").map(group => group.dataset.name).sort();
said.width = of("b").rect.attributes.width;
ids.reset.click();
said.all = groups.filter(group => group.style.display !== "none").length;
said.back = of("b").rect.attributes.width;
words.push("^(c|d)$", "(");
ids.search.click();
said.matched = ids.matched.textContent;
said.marked = groups.filter(group => group.rect.style.fill).map(group => group.dataset.name).sort();
listeners.keydown({ key: "/", preventDefault() {} });
said.alert = ids.alert;
console.log(JSON.stringify(said));
"""


def test_the_script_zooms_and_searches(tmp_path):
    (tmp_path / "stacks").write_text("a;b;c 30\na;b 10\na;d;c 20\ne 40\n")
    run = subprocess.run([ROOT / "tools/fathom", "flame", "stacks", "-o", "x.svg"], cwd=tmp_path)
    assert run.returncode == 0
    root = ElementTree.parse(tmp_path / "x.svg").getroot()
    boxes = [
        {key: group.get(f"data-{key}") for key in ("x", "w", "row", "name")}
        for group in root.iter("{http://www.w3.org/2000/svg}g")
        if group.get("class") == "f"
    ]
    script = next(root.iter("{http://www.w3.org/2000/svg}script")).text
    (tmp_path / "drive.js").write_text(DOCUMENT.replace("BOXES", json.dumps(boxes)) + script + DRIVE)
    said = json.loads(subprocess.run(["node", tmp_path / "drive.js"], check=True, capture_output=True, text=True).stdout)
    assert said["zoomed"] == ["a", "all", "b", "c"] and said["width"] == 1180
    assert said["all"] == len(boxes) == 7 and abs(said["back"] - 472) < 1e-6
    assert said["matched"] == "matched: 50.0%" and said["marked"] == ["c", "c", "d"] and "expression" in said["alert"].lower()

"""Reads what `tools/fathom perfetto` writes: protobuf by its wire format alone, then slices, instants and arrows of each track."""
import struct


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
        if byte < 128:
            return value, at


def message(data):
    """{number of a field: [values]}"""
    fields, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        else:
            assert kind == 2, f"wire type {kind}"
            length, at = varint(data, at)
            value, at = data[at : at + length], at + length
            assert len(value) == length
        fields.setdefault(key >> 3, []).append(value)
    return fields


class Track:
    def __init__(self, descriptor):
        self.name = descriptor.get(2, [b""])[0].decode()
        self.parent = descriptor.get(5, [0])[0]
        self.thread = {key: value[0] for key, value in message(descriptor[4][0]).items()} if 4 in descriptor else None
        self.is_counter = 8 in descriptor
        self.slices, self.instants, self.values, self.open = [], [], [], []


class Trace:
    """tracks: {uuid: Track}. A slice is [name, begin, end, depth, arguments], an instant (ts, name, arguments);
    flows: {number: [(ts, track, name, does it end there)]}."""

    def __init__(self, data):
        self.tracks, self.flows, self.names, self.keys, self.time = {}, {}, {}, {}, 0
        packets = message(data)
        assert set(packets) == {1}
        for index, packet in enumerate(packets[1]):
            packet = message(packet)
            assert packet[10] == [1] and packet[13] == [1 if index == 0 else 2]
            self.interned(packet)
            if 60 in packet:
                descriptor = message(packet[60][0])
                self.tracks[descriptor[1][0]] = Track(descriptor)
            if 11 in packet:
                self.event(packet[8][0], message(packet[11][0]))
        assert all(not track.open for track in self.tracks.values())

    def interned(self, packet):
        for block in packet.get(12, []):
            block = message(block)
            for number, table in ((2, self.names), (3, self.keys)):
                table.update((one[1][0], one[2][0].decode()) for one in map(message, block.get(number, [])))

    def arguments(self, event):
        found = {}
        for one in map(message, event.get(4, [])):
            value = next(one[number][0] for number in (4, 3, 6) if number in one)
            found[self.keys[one[1][0]]] = value.decode() if isinstance(value, bytes) else value
        return found

    def event(self, ts, event):
        assert ts >= self.time
        self.time, track = ts, self.tracks[event[11][0]]
        name = self.names[event[10][0]] if 10 in event else None
        for number, ends in ((47, False), (48, True)):
            for flow in event.get(number, []):
                self.flows.setdefault(flow, []).append((ts, track.name, name, ends))
        kind = event[9][0]
        if kind == 1:
            track.slices.append([name, ts, None, len(track.open), self.arguments(event)])
            track.open.append(track.slices[-1])
        elif kind == 2:
            track.open.pop()[2] = ts
        elif kind == 3:
            track.instants.append((ts, name, self.arguments(event)))
        else:
            assert kind == 4 and track.is_counter
            track.values.append((ts, event[30][0]))

    def track(self, name):
        return next(track for track in self.tracks.values() if track.name == name)

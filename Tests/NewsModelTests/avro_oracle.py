"""Random Avro schemas, a record of each as fastavro writes it, and the JSON that it should become: one line of JSON each.

Arguments: how many, and the seed."""
import base64, datetime, decimal, io, json, random, sys
import fastavro

count, rng = int(sys.argv[1]), random.Random(int(sys.argv[2]))
decimal.getcontext().prec = 100
names = 0
EPOCH = datetime.datetime(1970, 1, 1)
CHARACTERS = "abc äöß€𝄞\"\\\n\t/\u0001\u2028"


def name():
    global names
    names += 1
    return f"N{names}"


def text():
    return "".join(rng.choice(CHARACTERS) for _ in range(rng.randrange(12)))


def data(size):
    return bytes(rng.randrange(256) for _ in range(size))


def number(bits):
    return rng.choice([0, -1, 1, 2 ** (bits - 1) - 1, -(2 ** (bits - 1)), rng.randrange(-2 ** (bits - 1), 2 ** (bits - 1))])


def time_of(count, per_second):
    digits = len(str(per_second)) - 1
    clock = (EPOCH + datetime.timedelta(seconds=count // per_second)).strftime("%H:%M:%S")
    return f"{clock}.{count % per_second:0{digits}d}"


def timestamp(per_second, zone):
    seconds = rng.randrange(-62135596800, 253402300800)
    count = seconds * per_second + rng.randrange(per_second)
    if not -2 ** 63 <= count < 2 ** 63:
        count = rng.randrange(-2 ** 63, 2 ** 63)
    moment = EPOCH + datetime.timedelta(seconds=count // per_second)
    day = f"{moment.year:04d}-{moment.month:02d}-{moment.day:02d}"
    return count, f"{day}T{time_of(count, per_second)}{zone}"


def day():
    count = rng.randrange(-719162, 2932897)
    moment = EPOCH + datetime.timedelta(days=count)
    return count, f"{moment.year:04d}-{moment.month:02d}-{moment.day:02d}"


def decimal_of(precision, scale):
    whole = rng.choice([0, -1, 255, -256, rng.randrange(-10 ** precision + 1, 10 ** precision)])
    whole = max(min(whole, 10 ** precision - 1), 1 - 10 ** precision)
    value = decimal.Decimal(whole).scaleb(-scale)
    return value, f"{value:.{scale}f}"


def logical(kind, meaning, **more):
    return {"type": kind, "logicalType": meaning, **more}


def leaf():
    """A schema, and a function that makes a value and its JSON."""
    precision = rng.randrange(1, 40)
    scale = rng.randrange(precision + 1)
    symbols = [f"S{index}" for index in range(rng.randrange(1, 5))]
    size = rng.randrange(0, 9)
    same = lambda make: lambda: (value := make(), value)
    raw = lambda make: lambda: (value := make(), value.decode("latin-1"))
    return rng.choice([
        ("null", same(lambda: None)),
        ("boolean", same(lambda: rng.random() < 0.5)),
        ("int", same(lambda: number(32))),
        ("long", same(lambda: number(64))),
        ("float", same(lambda: rng.randrange(-9999, 9999) / 8)),
        ("double", same(lambda: rng.uniform(-1e9, 1e9))),
        ("string", same(text)),
        ({"type": "string"}, same(text)),
        ("bytes", raw(lambda: data(rng.randrange(9)))),
        ({"type": "fixed", "name": name(), "size": size}, raw(lambda: data(size))),
        ({"type": "enum", "name": name(), "symbols": symbols}, same(lambda: rng.choice(symbols))),
        (logical("int", "date"), day),
        (logical("int", "time-millis"), lambda: (value := rng.randrange(86400000), time_of(value, 1000))),
        (logical("long", "time-micros"), lambda: (value := rng.randrange(86400000000), time_of(value, 10 ** 6))),
        (logical("long", "timestamp-millis"), lambda: timestamp(1000, "Z")),
        (logical("long", "timestamp-micros"), lambda: timestamp(10 ** 6, "Z")),
        (logical("long", "timestamp-nanos"), lambda: timestamp(10 ** 9, "Z")),
        (logical("long", "local-timestamp-millis"), lambda: timestamp(1000, "")),
        (logical("long", "local-timestamp-micros"), lambda: timestamp(10 ** 6, "")),
        (logical("int", "timestamp-millis"), same(lambda: number(32))),
        (logical("long", "unheard-of"), same(lambda: number(64))),
        (logical("bytes", "decimal", precision=precision, scale=scale), lambda: decimal_of(precision, scale)),
        (logical("fixed", "decimal", name=name(), size=20, precision=precision, scale=scale),
         lambda: decimal_of(precision, scale)),
        (logical("string", "uuid"), same(lambda: "123e4567-e89b-12d3-a456-426614174000")),
    ])


def union(depth):
    """Branches with values of different Python types, so that fastavro chooses as we do."""
    record, make_record = tree(depth - 1, kind="record")
    element, make_element = tree(depth - 1, kind="leaf")
    branches = [
        ("null", lambda: (None, None)),
        ("string", lambda: (value := text(), value)),
        ("long", lambda: (value := number(64), value)),
        (record, make_record),
        ({"type": "array", "items": element}, lambda: list_of(make_element)),
    ]
    rng.shuffle(branches)
    branches = branches[:rng.randrange(1, 6)]
    return [schema for schema, _ in branches], lambda: rng.choice(branches)[1]()


def list_of(make):
    pairs = [make() for _ in range(rng.randrange(4))]
    return [value for value, _ in pairs], [shown for _, shown in pairs]


def record(depth):
    fields = [(f"f{index}", *tree(depth - 1)) for index in range(rng.randrange(5))]
    schema = {"type": "record", "name": name(), "fields": [{"name": key, "type": kind} for key, kind, _ in fields]}
    if rng.random() < 0.3:
        schema["namespace"] = f"space{rng.randrange(3)}.inner"

    def make():
        made = [(key, *make()) for key, _, make in fields]
        return {key: value for key, value, _ in made}, {key: shown for key, _, shown in made}
    return schema, make


def chain():
    """A schema that contains itself."""
    own = name()
    schema = {"type": "record", "name": own, "fields": [
        {"name": "value", "type": "string"}, {"name": "next", "type": ["null", own]}]}

    def make():
        value = shown = None
        for _ in range(rng.randrange(1, 10)):
            word = text()
            value, shown = {"value": word, "next": value}, {"value": word, "next": shown}
        return value, shown
    return schema, make


def tree(depth, kind=None):
    kind = kind or (rng.choice(["record", "array", "map", "union", "chain", "leaf", "leaf"]) if depth > 0 else "leaf")
    if kind == "record":
        return record(depth)
    if kind == "chain":
        return chain()
    if kind == "union":
        return union(depth)
    if kind == "leaf":
        return leaf()
    schema, make = tree(depth - 1)
    if kind == "array":
        return {"type": "array", "items": schema}, lambda: list_of(make)

    def make_map():
        made = {f"{key} {text()}": make() for key in range(rng.randrange(4))}
        return {key: value for key, (value, _) in made.items()}, {key: shown for key, (_, shown) in made.items()}
    return {"type": "map", "values": schema}, make_map


for _ in range(count):
    schema, make = tree(4, kind="record")
    value, shown = make()
    output = io.BytesIO()
    fastavro.schemaless_writer(output, fastavro.parse_schema(json.loads(json.dumps(schema))), value)
    print(json.dumps({
        "schema": json.dumps(schema), "record": base64.b64encode(output.getvalue()).decode(),
        "json": json.dumps(shown)}))

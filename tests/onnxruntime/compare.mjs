// Runs ONNX files through onnxruntime-web and holds their outputs against what pimsim says (networks.c).
//
//     node compare.mjs FOLDER [VECTOR]          VECTOR: a folder, in which the network of windows is kept as the ONNX
//                                               project keeps its vectors (tests/data/onnx/windows)
import {copyFileSync, mkdirSync, readFileSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import * as ort from "onnxruntime-web/wasm";

const TOLERANCE = 1e-3; // of the largest output: 32-bit sums against 64-bit ones

const folder = process.argv[2];
ort.env.wasm.numThreads = 1;
ort.env.logLevel = "error";

function floats(name) {
    const bytes = readFileSync(join(folder, name));
    return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

// A TensorProto: dims, data_type, raw_data.
function tensor(shape, numbers) {
    const varint = (value) => value < 128 ? [value] : [value % 128 + 128, ...varint(Math.floor(value / 128))];
    const raw = new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
    return Uint8Array.from([...shape.flatMap((size) => [8, ...varint(size)]), 16, 1, 74, ...varint(raw.length), ...raw]);
}

function keep(vector, name, shape, result) {
    mkdirSync(join(vector, "test_data_set_0"), {recursive: true});
    copyFileSync(join(folder, `${name}.onnx`), join(vector, "model.onnx"));
    writeFileSync(join(vector, "test_data_set_0", "input_0.pb"), tensor(shape, floats(`${name}.input`)));
    writeFileSync(join(vector, "test_data_set_0", "output_0.pb"), tensor(result.dims, result.data));
}

let wrong = 0;
for (const {name, shape, outputs} of JSON.parse(readFileSync(join(folder, "networks.json"), "utf8"))) {
    const session = await ort.InferenceSession.create(new Uint8Array(readFileSync(join(folder, `${name}.onnx`))),
        {graphOptimizationLevel: "disabled", logSeverityLevel: 3});
    const results = await session.run({[session.inputNames[0]]: new ort.Tensor("float32", floats(`${name}.input`), shape)});
    const result = results[session.outputNames[0]];
    if (name === "windows" && process.argv.length > 3)
        keep(process.argv[3], name, shape, result);
    const right = result.data, found = floats(`${name}.output`);
    let largest = 0, off = 0;
    for (let i = 0; i < right.length; i++) {
        largest = Math.max(largest, Math.abs(right[i]));
        off = Math.max(off, Math.abs(right[i] - found[i]));
    }
    const good = right.length === outputs && found.length === outputs && off <= TOLERANCE * largest;
    wrong += good ? 0 : 1;
    console.log(`${good ? "ok" : "WRONG"}: ${name}, ${right.length} outputs, at most ${(off / largest).toExponential(1)} of the largest off`);
}
process.exit(wrong ? 1 : 0);

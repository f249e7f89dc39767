/** Writes points by name, and raw registers; reads the written registers back. */
import { SimError } from '../../core/errors.ts';
import type { Issue } from '../../core/errors.ts';
import type {
  FoundModel,
  RawWriteOutcome,
  ReadingValue,
  WriteOutcome,
  WriteRequest,
  WrittenPoint,
} from '../../contract/sunspec-client.ts';
import type { Connection, LearntLimits } from './connection.ts';
import { maxWritten } from './connection.ts';
import { exceptionError, exceptionIn, peerError } from './peer.ts';
import { suggestions } from '../../core/nearest.ts';
import { decode, encode } from './point-bridge.ts';
import {
  MapChanged,
  notAsked,
  pointReading,
  readRaw,
  readWords,
  refusalText,
  registersOf,
  scaleOf,
  scaleRefusal,
} from './reader.ts';
import type { ModelWords } from './reader.ts';
import type { Slot } from './shape.ts';

interface Assignment {
  readonly slot: Slot;
  readonly sf: number | null | undefined;
  readonly words: Buffer;
}

/** Consecutive points written by one request. */
interface Run {
  readonly assignments: Assignment[];
  registers: number;
}

/** JSON pointer into the request. */
function pointer(path: string): string {
  return `/points/${path.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Points of a stored curve may be null (unused); all other points need a value. */
function mayBeAbsent({ path }: Slot): boolean {
  return path.includes('.Pt[');
}

function assignmentOf(slot: Slot, value: ReadingValue, read: ModelWords): Assignment | Omit<Issue, 'name'> {
  if (slot.def.access !== 'RW') return { detail: 'is read only' };
  if (value === null && !mayBeAbsent(slot)) return { detail: 'the "not implemented" value cannot be written' };
  const refusal = scaleRefusal(slot, read);
  // without its scale factor a point cannot be encoded
  if (refusal === notAsked)
    throw peerError(`the scale factor of ${slot.path} was ${refusalText(refusal)}; nothing was written`);
  if (refusal !== undefined)
    throw exceptionError(refusal, ` while reading the scale factor of ${slot.path}; nothing was written`);
  const sf = scaleOf(slot, read);
  const encoded = encode(slot.def, value, sf === undefined ? 0 : sf);
  if ('words' in encoded) return { slot, sf, words: encoded.words };
  return { detail: encoded.fault, ...(encoded.allowed && { allowed: encoded.allowed }) };
}

/**
 * @throws SimError UNKNOWN_RESOURCE, COMMAND_BAD_VALUE naming every faulty point, PEER_ERROR where a scale factor
 * cannot be read
 */
function assignmentsOf(
  model: FoundModel,
  read: ModelWords,
  values: Readonly<Record<string, ReadingValue>>,
): Assignment[] {
  const { shape } = read;
  if (shape === null)
    throw new SimError(
      'UNKNOWN_RESOURCE',
      `Model ${model.id} has no known definition: write its registers by address.`,
    );
  const byPath = new Map(shape.all.map((slot) => [slot.path, slot]));
  const issues: Issue[] = [];
  const assignments: Assignment[] = [];
  const near = suggestions(() => [...byPath.keys()]);
  for (const [path, value] of Object.entries(values)) {
    const slot = byPath.get(path);
    const result = slot
      ? assignmentOf(slot, value, read)
      : { detail: `model ${model.id} of the device has no such point${near(path)}` };
    if ('words' in result) assignments.push(result);
    else issues.push({ name: pointer(path), ...result });
  }
  if (issues.length > 0) {
    const words = issues
      .slice(0, 5)
      .map(({ name, detail }) => `${name}: ${detail}`)
      .join('; ');
    throw new SimError('COMMAND_BAD_VALUE', words, issues);
  }
  return assignments;
}

/** Values first, then adoption requests, then enables: the order that SunSpec prescribes for masters. */
function rankOf({ slot: { def } }: Assignment): number {
  if (/Ena$/.test(def.name)) return 2;
  return def.effect === 'latch' || /^Adpt\w+Req$/.test(def.name) ? 1 : 0;
}

function runsOf(assignments: readonly Assignment[]): Run[] {
  const runs: Run[] = [];
  for (const assignment of [...assignments].sort((a, b) => a.slot.offset - b.slot.offset)) {
    const { offset, def } = assignment.slot;
    const run = runs.at(-1);
    const start = run?.assignments[0]?.slot.offset ?? 0;
    if (run && start + run.registers === offset && run.registers + def.size <= maxWritten) {
      run.assignments.push(assignment);
      run.registers += def.size;
    } else runs.push({ assignments: [assignment], registers: def.size });
  }
  const rank = ({ assignments: parts }: Run) => Math.max(...parts.map(rankOf));
  return runs.sort((a, b) => rank(a) - rank(b));
}

/** Registers written by one request. */
interface Piece {
  readonly address: number;
  readonly registers: readonly number[];
}

/** Two ways to write the same registers: one request, or one per register. */
interface WriteAlternatives {
  readonly whole: Piece;
  /** in the order of writing; null: a register cannot be written alone */
  readonly singly: readonly Piece[] | null;
}

type OnRequest = (request: WriteRequest) => void;

async function send(
  connection: Connection,
  functionCode: 6 | 16,
  { address, registers }: Piece,
  sent: OnRequest,
): Promise<void> {
  await connection.write(functionCode, address, registers);
  sent({ functionCode, address, count: registers.length });
}

/**
 * Functions in the order to try: 6 first for one register, 16 first for more, unless the device has refused the first.
 * Only 16 if a register cannot be written alone.
 */
function functionsFor(
  { whole, singly }: WriteAlternatives,
  { refuses6, refuses16 }: LearntLimits,
): readonly (6 | 16)[] {
  if (singly === null) return [16];
  if (whole.registers.length === 1) return refuses6 ? [16, 6] : [6, 16];
  return refuses16 ? [6, 16] : [16, 6];
}

/** Writes registers; falls back to the other function after exception 1 (illegal function). */
async function sendRegisters(connection: Connection, ways: WriteAlternatives, sent: OnRequest): Promise<void> {
  const { learnt } = connection;
  const by = async (functionCode: 6 | 16) => {
    const pieces = functionCode === 6 ? (ways.singly ?? []) : [ways.whole];
    for (const piece of pieces) await send(connection, functionCode, piece, sent);
  };
  const [first = 16, other] = functionsFor(ways, learnt);
  try {
    await by(first);
  } catch (error) {
    if (exceptionIn(error) !== 1 || other === undefined) throw error;
    try {
      await by(other);
    } catch (second) {
      // both functions get the same exception, so the function is not its cause
      throw exceptionIn(second) === 1 ? error : second;
    }
    if (first === 6) learnt.refuses6 = true;
    else learnt.refuses16 = true;
  }
}

function pieceOf({ slot, words }: Assignment, model: FoundModel): Piece {
  return { address: model.address + slot.offset, registers: registersOf(words) };
}

function alternativesOf({ assignments }: Run, model: FoundModel): WriteAlternatives {
  const pieces = assignments.map((assignment) => pieceOf(assignment, model));
  const whole = { address: pieces[0]?.address ?? 0, registers: pieces.flatMap(({ registers }) => registers) };
  if (assignments.some(({ slot }) => slot.def.size > 1)) return { whole, singly: null };
  return {
    whole,
    singly: [...assignments].sort((a, b) => rankOf(a) - rankOf(b)).map((assignment) => pieceOf(assignment, model)),
  };
}

const unknownOutcome = '; whether this was carried out is not known';

/** The error with words appended to its message; an exception of the device keeps its code. */
function withWords(error: unknown, words: string): unknown {
  const code = exceptionIn(error);
  if (code !== null) return exceptionError(code, words);
  if (error instanceof MapChanged) return peerError(error.message + words);
  return error instanceof SimError ? new SimError(error.code, error.message + words) : error;
}

function namesOf(assignments: readonly Assignment[]): string {
  return assignments.map(({ slot }) => slot.path).join(', ');
}

/** Adds the points already written to the message of an error. */
function failedWrite(
  error: unknown,
  model: FoundModel,
  runs: readonly Run[],
  failed: Run,
  requests: readonly WriteRequest[],
): unknown {
  const isWritten = ({ slot }: Assignment) => {
    const address = model.address + slot.offset;
    return requests.some(
      (request) => request.address <= address && address + slot.def.size <= request.address + request.count,
    );
  };
  const written = runs.flatMap(({ assignments }) => assignments.filter(isWritten));
  const before = written.length > 0 ? `; written before: ${namesOf(written)}` : '; nothing was written before';
  const rest = ` for ${namesOf(failed.assignments.filter((assignment) => !isWritten(assignment)))}`;
  return withWords(error, exceptionIn(error) === null ? `,${rest}${unknownOutcome}${before}` : rest + before);
}

async function writeRuns(connection: Connection, { model, runs }: WritePlan): Promise<WriteRequest[]> {
  const requests: WriteRequest[] = [];
  for (const run of runs) {
    try {
      await sendRegisters(connection, alternativesOf(run, model), (request) => {
        requests.push(request);
      });
    } catch (error) {
      throw failedWrite(error, model, runs, run, requests);
    }
  }
  return requests;
}

/** A checked write, in the order of its requests. */
export interface WritePlan {
  readonly model: FoundModel;
  readonly assignments: readonly Assignment[];
  readonly runs: readonly Run[];
}

/**
 * Checks values against the model and the present scale factors of the device, without writing.
 * @throws MapChanged; SimError COMMAND_BAD_VALUE, UNKNOWN_RESOURCE, PEER_ERROR, PEER_TIMEOUT
 */
export async function planWrite(
  connection: Connection,
  model: FoundModel,
  values: Readonly<Record<string, ReadingValue>>,
): Promise<WritePlan> {
  const assignments = assignmentsOf(model, await readWords(connection, model), values);
  return { model, assignments, runs: runsOf(assignments) };
}

function writtenPoint({ slot, sf, words }: Assignment, model: FoundModel, after: ModelWords): WrittenPoint {
  const at = slot.offset * 2;
  // another scale factor changes the meaning of the registers
  const match =
    after.words.subarray(at, at + words.length).equals(words) &&
    !after.refused.has(slot.offset) &&
    scaleOf(slot, after) === sf;
  return {
    name: slot.path,
    written: decode(slot.def, words, sf === undefined ? 0 : sf).value,
    rawWritten: registersOf(words),
    readBack: pointReading(slot, model, after),
    match,
  };
}

/**
 * Writes once and reads the model back.
 * @returns also the registers read back
 * @throws SimError PEER_ERROR, PEER_TIMEOUT, naming the points written before
 */
export async function carryOut(
  connection: Connection,
  plan: WritePlan,
): Promise<{ readonly outcome: WriteOutcome; readonly after: ModelWords }> {
  const { model, assignments } = plan;
  const requests = await writeRuns(connection, plan);
  try {
    const after = await readWords(connection, model);
    const points = assignments.map((assignment) => writtenPoint(assignment, model, after));
    return { outcome: { model, points, requests, match: points.every(({ match }) => match) }, after };
  } catch (error) {
    throw withWords(
      error,
      `; ${namesOf(assignments)} ${assignments.length === 1 ? 'was' : 'were'} written and could not be read back`,
    );
  }
}

/** Writes raw registers. @throws SimError PEER_ERROR, PEER_TIMEOUT */
export async function writeRegisters(
  connection: Connection,
  address: number,
  registers: readonly number[],
): Promise<RawWriteOutcome> {
  const requests: WriteRequest[] = [];
  const whole = { address, registers };
  try {
    await sendRegisters(connection, { whole, singly: registers.length === 1 ? [whole] : null }, (request) => {
      requests.push(request);
    });
  } catch (error) {
    throw exceptionIn(error) === null ? withWords(error, unknownOutcome) : error;
  }
  let readBack: number[] | null = null;
  try {
    readBack = await readRaw(connection, address, registers.length);
  } catch (error) {
    if (exceptionIn(error) === null) throw withWords(error, '; the registers were written and could not be read back');
  }
  const match = readBack !== null && readBack.every((register, i) => register === registers[i]);
  return { address, registers, readBack, requests, match };
}

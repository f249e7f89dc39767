/** A tool of the MCP server, and what the tools work on. */
import { z } from 'zod';
import type { Client } from '../library/client.ts';
import { DerbenchError } from '../library/error.ts';
import type { Description } from './description.ts';

/** Verdict of a scenario in a simulator of its own. */
export interface ScenarioVerdict {
  readonly name: string;
  readonly state: string;
  readonly failures: readonly string[];
  readonly error: string | null;
  /** the line that `derbench run` ends with */
  readonly summary: string;
  /** the report as JSON */
  readonly report: object;
}

export interface ScenarioOrder {
  /** name of a bundled scenario; null: `text` is one */
  readonly bundled: string | null;
  /** YAML */
  readonly text: string;
  readonly parameters: Readonly<Record<string, string | number | boolean | null>>;
}

/** Runs a scenario until `signal` ends it. @throws SimError CONFIG_INVALID with every issue */
export type RunScenario = (order: ScenarioOrder, signal: AbortSignal) => Promise<ScenarioVerdict>;

/** Values that all calls share. */
export interface ServerContext {
  /** of the simulator, without a trailing slash */
  readonly url: string;
  readonly isReadOnly: boolean;
  /** names of settings that reach other machines or files; null: requests may */
  readonly outwardSettings: ReadonlySet<string> | null;
  /** of the simulator that runs */
  readonly description: (signal: AbortSignal) => Promise<Description>;
  readonly runScenario: RunScenario;
  /** reports of `run_scenario` by their id */
  readonly reports: Map<string, object>;
}

export interface ToolContext extends ServerContext {
  /** its requests end with `signal` */
  readonly client: Client;
  /** of the end of the call: its time limit, or the client of MCP */
  readonly signal: AbortSignal;
}

/** Members of the structured content of a tool. */
type Data = Readonly<Record<string, unknown>>;

export interface Answer<D extends Data = Data> {
  /** one plain sentence */
  readonly sentence: string;
  readonly data: D;
  /** the question to ask where lists of `data` had to be cut */
  readonly narrower?: string;
}

export interface Annotations {
  /** absent: false */
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint: false;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  readonly annotations: Annotations;
  /** real time of a call, ms; null: an argument of the tool limits it; absent: that of most tools */
  readonly limitMs?: number | null;
  readonly run: (given: unknown, context: ToolContext) => Promise<Answer>;
}

type Definition<I extends z.ZodRawShape, O extends z.ZodRawShape> = Omit<Tool, 'input' | 'output' | 'run'> & {
  readonly input: I;
  readonly output: O;
  /** `data` may have more members than `output`: they are left out */
  readonly run: (
    given: z.output<z.ZodObject<I>>,
    context: ToolContext,
  ) => Promise<Answer<z.input<z.ZodObject<O>> & Data>>;
};

/** The declared members of an answer. @throws DerbenchError `other-simulator` where the simulator has not given them */
function declared(output: z.ZodObject, data: Data): Data {
  const { data: members, error } = output.safeParse(data);
  if (error === undefined) return members;
  const places = error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
  throw new DerbenchError({
    code: 'other-simulator',
    detail: `the simulator answers otherwise than this version of derbench mcp: ${places}`,
  });
}

/** Checks the arguments before the tool runs, and its answer. */
export function tool<I extends z.ZodRawShape, O extends z.ZodRawShape>({
  input,
  output,
  run,
  ...rest
}: Definition<I, O>): Tool {
  const schema = z.strictObject(input);
  const outputSchema = z.object(output);
  return {
    ...rest,
    input: schema,
    output: outputSchema,
    async run(given, context) {
      const { data, ...answer } = await run(schema.parse(given, { reportInput: true }), context);
      return { ...answer, data: declared(outputSchema, data) };
    },
  };
}

export const reads: Annotations = { readOnlyHint: true, openWorldHint: false };
export const acts: Annotations = { destructiveHint: false, openWorldHint: false };
/** Changes the simulator, the second time to the same values. */
export const sets: Annotations = { ...acts, idempotentHint: true };

/** Index of a device. */
export const device = z.int().min(0);
/** The instructions of the server say what it is. */
export const fromPeer = z.unknown();

const oneValue = z.union([z.number(), z.string()]);
/** A value that a tool sets or compares with. */
export const someValue = oneValue;
export const someValueOrNull = oneValue.nullable();
export const numberOrNull = z.number().nullable();
export const textOrNull = z.string().nullable();

/** Query of a device; none: the first device, or what all share. */
export const at = (index: number | undefined) => (index === undefined ? {} : { device: index });

export const shortClock = z.object({
  mode: z.string(),
  rate: z.number(),
  sim_time: z.string(),
  tick: z.int(),
});

import type { Snapshot } from '../../contract/snapshot.ts';
import type { Device } from '../../contract/device.ts';
import type { RouteContext } from '../http/context.ts';
import type { CommReply } from '../devices.ts';
import type { AnswerCount } from './answer-counts.ts';

/** Input of one scrape. */
export interface MetricsView {
  readonly ctx: RouteContext;
  readonly devices: readonly { readonly device: Device; readonly snapshot: Snapshot }[];
  /** by the names of `comm_status` */
  readonly protocols: readonly (readonly [name: string, status: CommReply])[];
  readonly answers: readonly AnswerCount[];
  readonly memory: NodeJS.MemoryUsage;
  /** microseconds */
  readonly cpu: NodeJS.CpuUsage;
}

/** Input of the families of a process, which a gateway of a fleet has too. */
export interface ProcessView extends Pick<MetricsView, 'memory' | 'cpu'> {
  readonly ctx: {
    readonly info: Pick<RouteContext['info'], 'version' | 'apiVersion' | 'buildId' | 'startedAtMs'>;
    readonly eventLoop: RouteContext['eventLoop'];
  };
}

/** A value and the values of its labels; a null value makes no sample. */
export type Sample = readonly [value: number | null, ...labelValues: string[]];

/** One metric family of the exposition. */
export interface Family<View = MetricsView> {
  /** by the conventions of Prometheus: base unit last, `_total` for counters */
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter';
  readonly labels: readonly string[];
  samples(view: View): Iterable<Sample>;
}

/** A family with one sample and no label. */
export function single<View>(
  type: Family['type'],
  name: string,
  help: string,
  read: (view: View) => number,
): Family<View> {
  return { type, name, help, labels: [], samples: (view) => [[read(view)]] };
}

/** A gauge that is always 1; its information is in the labels. */
export function info<View>(
  name: string,
  help: string,
  labels: readonly string[],
  read: (view: View) => readonly (readonly string[])[],
): Family<View> {
  return { type: 'gauge', name, help, labels, samples: (view) => read(view).map((values) => [1, ...values] as const) };
}

export const bit = (holds: boolean) => (holds ? 1 : 0);

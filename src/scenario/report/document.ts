/** The result of a run as JSON. Without real times, two runs of one scenario give the same bytes. */
import { assertionJson, plainSeconds, stepJson } from '../../contract/scenarios.ts';
import type { RunReport, StepResult } from '../../contract/scenarios.ts';

export interface ReportOrigin {
  readonly version: string;
  readonly buildId: string;
  readonly seed: number;
}

const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());

/** Ports chosen by the operating system differ between equal runs. */
const localPort = /\b(127\.0\.0\.1|localhost|\[::1\]):\d+/g;

/** A step without local ports in the details of its actions. */
function maskedStep(step: StepResult) {
  const { actions, ...json } = stepJson(step);
  const masked = actions.map((action) => ({
    ...action,
    detail: action.detail?.replace(localPort, '$1:(port)') ?? null,
  }));
  return { ...json, actions: masked };
}

/** The document of a run, with version, build and seed of the simulator. */
export function reportDocument(report: RunReport, { version, buildId, seed }: ReportOrigin) {
  return {
    format: 'derbench-scenario-result/1',
    derbench: { version, build_id: buildId },
    scenario: { name: report.name, description: report.description, parameters: report.parameters },
    state: report.state,
    error: report.error,
    failures: report.failures,
    real: {
      started_at: iso(report.startedAtMs),
      ended_at: iso(report.endedAtMs),
      duration_s: report.endedAtMs === null ? null : plainSeconds((report.endedAtMs - report.startedAtMs) / 1000),
    },
    simulated: {
      started_at: iso(report.simStartMs),
      duration_s: plainSeconds(report.simS),
      ticks: report.ticks,
      pace: report.pace,
      seed,
    },
    devices: report.devices,
    checks_of_peers: report.checksOfPeers,
    steps_forgotten: report.stepsForgotten,
    steps: report.steps().map(maskedStep),
    assertions_forgotten: report.assertionsForgotten,
    assertions: report.assertions().map(assertionJson),
    series: report.series().map(({ signal, unit, samples }) => ({
      signal,
      unit,
      samples: samples.map(([s, value]) => [plainSeconds(s), value]),
    })),
  };
}

/** Members of `reportDocument` that differ between equal runs: real times. */
export const realMembers = ['real'] as const;

import { expect } from 'chai';
import type { App } from '../../../src/app/start-stop.ts';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';
import { prefix } from '../../support/rest.ts';
import { modbusEndpoint, startApp } from '../../support/running-app.ts';
import type { RunningOptions } from '../../support/running-app.ts';

/** A simulator with a battery, whose SunSpec client may be told to connect to that battery. */
export interface PolledBattery {
  readonly app: App;
  readonly port: number;
  readonly modbusPort: number;
  /** The JSON of an answer with this status. */
  readonly call: (path: string, body?: unknown, status?: number) => Promise<Json>;
  readonly connect: (more?: object) => Promise<Json>;
}

export async function openBattery(options: RunningOptions = {}): Promise<PolledBattery> {
  const { app, port } = await startApp(['Batt-3Phase'], [], { history: 'real', ...options });
  const modbusPort = modbusEndpoint(app, 0).port;
  const call: PolledBattery['call'] = async (path, body, status = 200) => {
    const answer = await ask(port, `${prefix}${path}`, { ...(body !== undefined && { method: 'POST', body }) });
    expect(answer.status, answer.text).to.equal(status);
    return answer.json;
  };
  const connect = (more: object = {}) =>
    call('/sunspec-client/connect', { host: '127.0.0.1', port: modbusPort, timeout_s: 1, ...more });
  return { app, port, modbusPort, call, connect };
}

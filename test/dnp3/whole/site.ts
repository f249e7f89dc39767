/** The whole simulator with outstations on free ports, and masters at them. */
import { expect } from 'chai';
import type { Dnp3Endpoint } from '../../../src/core/adapter.ts';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';
import { startApp } from '../../support/running-app.ts';
import type { RunningApp, RunningOptions } from '../../support/running-app.ts';
import { TestMaster } from '../rig/master.ts';

export class Site {
  readonly running: RunningApp;
  readonly masters: TestMaster[] = [];

  private constructor(running: RunningApp) {
    this.running = running;
  }

  static async open(types: readonly string[], flags: readonly string[] = [], options: RunningOptions = {}) {
    const own = flags.includes('--dnp3_enable') ? flags : ['--dnp3_enable', 'yes', '--dnp3_port', '0', ...flags];
    return new Site(await startApp(types, own, options));
  }

  endpoint(index = 0): Dnp3Endpoint {
    for (const adapter of this.running.app.adapters) {
      const endpoint = adapter.comm === 'dnp3' ? adapter.endpointOf?.(index) : null;
      if (endpoint?.protocol === 'dnp3') return endpoint;
    }
    throw new Error(`device ${index} has no outstation`);
  }

  async master(index = 0, address = 4): Promise<TestMaster> {
    const { port, outstation } = this.endpoint(index);
    const master = await TestMaster.connect({ port, outstation, address });
    this.masters.push(master);
    return master;
  }

  async get(path: string): Promise<Json> {
    const answer = await ask(this.running.port, `/api/sim/${path}`);
    expect(answer.status, answer.text).to.equal(200);
    return answer.json;
  }

  async post(path: string, body: unknown, status = 200): Promise<Json> {
    const answer = await ask(this.running.port, `/api/sim/${path}`, { method: 'POST', body });
    expect(answer.status, answer.text).to.equal(status);
    return answer.json;
  }

  register(path: string, model = 704, index = 0): unknown {
    const { bank } = this.running.app.plant.device(index);
    const slot = bank.layout.slot(model, path);
    return slot && bank.value(slot);
  }

  async close(): Promise<void> {
    for (const master of this.masters) await master.close();
    await this.running.app.stop();
  }
}

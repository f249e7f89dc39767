/** A simulator with an outstation, its REST and its registers, for the tests with foreign masters. */
import { expect } from 'chai';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';
import { freePorts } from '../../support/ports.ts';
import { startSimulator } from '../../support/process.ts';
import type { RunningSimulator } from '../../support/process.ts';
import { brokenRules } from './findings.ts';
import { PythonPeer } from './peers.ts';

const prefix = '/api/sim';

export class Dnp3Bench {
  readonly simulator: RunningSimulator;
  readonly port: number;

  private constructor(simulator: RunningSimulator, port: number) {
    this.simulator = simulator;
    this.port = port;
  }

  static async open(flags: readonly string[] = [], ports = 1): Promise<Dnp3Bench> {
    const port = await freePorts(ports);
    const simulator = await startSimulator(['--dnp3_enable', 'yes', '--dnp3_port', String(port), ...flags]);
    return new Dnp3Bench(simulator, port);
  }

  /** Ends the process without warning. */
  async kill(): Promise<void> {
    process.kill(this.simulator.pid, 'SIGKILL');
    await this.simulator.stop();
  }

  async get(path: string): Promise<Json> {
    const answer = await ask(this.simulator.httpPort, `${prefix}/${path}`);
    expect(answer.status, answer.text).to.equal(200);
    return answer.json;
  }

  async post(path: string, body: unknown): Promise<Json> {
    const answer = await ask(this.simulator.httpPort, `${prefix}/${path}`, { method: 'POST', body });
    expect(answer.status, answer.text).to.be.within(200, 299);
    return answer.json;
  }

  /** A point of the registers by REST. */
  async register(model: number, path: string): Promise<unknown> {
    const { points } = await this.get(`registers/${model}`);
    return (points as { name: string; value: unknown }[]).find(({ name }) => name === path)?.value;
  }

  /** Rules of DNP3 that masters have broken. */
  async brokenRules(): Promise<readonly string[]> {
    const rules = await brokenRules(this.simulator.httpPort);
    return rules.flatMap((rule) => /^dnp3\.(.*)/.exec(rule)?.[1] ?? []);
  }

  /** A master of opendnp3. */
  opendnp3(options: { readonly outstation?: number; readonly address?: number; readonly unsolicited?: boolean } = {}) {
    const { outstation = 1, address = 4, unsolicited = false } = options;
    return new PythonPeer('dnp3_opendnp3', this.port, String(outstation), String(address), unsolicited ? 'yes' : 'no');
  }

  /** A master of dnp3py. */
  dnp3py(address = 4) {
    return new PythonPeer('dnp3_dnp3py', this.port, '1', String(address));
  }

  async close(): Promise<void> {
    await this.simulator.stop();
  }
}

/** The processes of a fleet beside its shards, and requests to its gateway. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { ask } from '../../support/http.ts';
import type { Json, JsonAnswer } from '../../support/http.ts';
import { programCommand } from '../../support/process.ts';

/** A gateway that is ready. */
export class GatewayProcess {
  readonly #child: ChildProcess;
  readonly port: number;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.port = port;
  }

  static async start(url: string, ...flags: string[]): Promise<GatewayProcess> {
    const [program, ...args] = programCommand;
    const words = [...args, 'gateway', '--fleet', url, '-wp', '0', '--log_level', 'error', ...flags];
    const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'inherit'] });
    for await (const line of createInterface(child.stdout)) {
      const port = /^ *HTTP .*?:(\d+)\//.exec(line)?.[1];
      if (port !== undefined) return new GatewayProcess(child, Number(port));
    }
    throw new Error('the gateway has ended before it was ready');
  }

  get(path: string): Promise<JsonAnswer> {
    return ask(this.port, `/api/sim${path}`);
  }

  post(path: string, body: Json): Promise<JsonAnswer> {
    return ask(this.port, `/api/sim${path}`, { method: 'POST', body });
  }

  /** Asks again until the shards are as wanted. */
  async shards(areSo: (shards: readonly Json[]) => boolean): Promise<readonly Json[]> {
    for (;;) {
      const { shards } = (await this.get('/fleet/shards')).json;
      if (areSo(shards)) return shards;
      await new Promise(setImmediate);
    }
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}

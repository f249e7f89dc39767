/** The server and the workers that a gateway starts on its machine. */
import { startLine } from '../../core/adapter.ts';
import { errorText, SimError } from '../../core/errors.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import type { Logger } from '../../core/log/log.ts';
import { systemClock } from '../../core/time/clock.ts';
import { callLater } from '../../core/time/timers.ts';
import { findNatsServer, natsAdvice, programIssue } from '../../fleet/workers/nats-program.ts';
import { OwnServer } from '../../fleet/workers/own-server.ts';
import { WorkerError, WorkerPool } from '../../fleet/workers/pool.ts';
import { invalidGateway } from './gateway-plan.ts';
import type { LocalAccess, LocalPlan } from './gateway-plan.ts';

interface Around {
  readonly log: Logger;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The program of the server. @throws SimError CONFIG_INVALID: it is missing, or too old */
async function natsProgram({ natsServer, workers }: LocalPlan, env: Around['env']): Promise<string> {
  const program = natsServer ?? findNatsServer(env['PATH']);
  const name = workers === null ? 'gateway' : '--workers';
  if (program === null) throw invalidGateway([{ name, detail: `needs nats-server 2.9 or newer: ${natsAdvice}` }]);
  const issue = await programIssue(program);
  if (issue !== null)
    throw invalidGateway([{ name, detail: `needs nats-server 2.9 or newer, but ${program} ${issue}: ${natsAdvice}` }]);
  return program;
}

export class LocalFleet {
  readonly #server: OwnServer;
  readonly #pool: WorkerPool | null;
  readonly #count: number;

  private constructor(server: OwnServer, plan: LocalPlan, { log }: Around) {
    this.#server = server;
    const commands = plan.workers?.commands(this.access) ?? [];
    this.#count = commands.length;
    this.#pool =
      plan.workers === null
        ? null
        : new WorkerPool({
            commands,
            program: process.argv[1] ?? '',
            env: plan.workers.env,
            onLine: (worker, line) => {
              process.stderr.write(line.startsWith('{') ? `${line}\n` : `${worker}: ${line}\n`);
            },
            log,
            clock: systemClock,
            later: callLater,
          });
  }

  /** Starts the server. @throws SimError CONFIG_INVALID: no program; LISTEN_FAILED: it does not start */
  static async start(plan: LocalPlan, around: Around): Promise<LocalFleet> {
    const program = await natsProgram(plan, around.env);
    try {
      const server = await OwnServer.start({ program, log: around.log, clock: systemClock, later: callLater });
      return new LocalFleet(server, plan, around);
    } catch (error) {
      throw new SimError('LISTEN_FAILED', errorText(error));
    }
  }

  get access(): LocalAccess {
    const { url, user, passwordFile } = this.#server;
    return { url, user, passwordFile };
  }

  /** @returns lines for the output of the start. @throws SimError with the code of a worker that has ended */
  async startWorkers(): Promise<readonly string[]> {
    const { url, user, passwordFile } = this.#server;
    if (this.#pool === null)
      return [startLine('NATS', `${url} (--fleet_user ${user} --fleet_password_file ${passwordFile})`)];
    try {
      await this.#pool.start();
    } catch (error) {
      if (!(error instanceof WorkerError)) throw error;
      throw new SimError(error.exitCode === exitCodes.usage ? 'CONFIG_INVALID' : 'LISTEN_FAILED', error.message);
    }
    return [startLine('Workers', `${this.#count} on ${url}`)];
  }

  /** Ends the workers first: each lets go of its name. */
  async end(): Promise<void> {
    await this.#pool?.end();
    await this.#server.end();
  }
}

/** Composition root: builds the parts of a simulator. */
import { assemble } from './assemble.ts';
import type { Ground } from './assemble.ts';
import type { AppConfig } from '../config/settings/app-config.ts';
import { createLogBook, filteredLogger } from '../core/log/log.ts';
import { systemClock } from '../core/time/clock.ts';
import { callLater } from '../core/time/timers.ts';
import { loadedLab } from './lab-control.ts';
import { App } from './start-stop.ts';
import { allDevices, UnfitState } from './keeping.ts';
import { folderState, memoryState } from './state.ts';
import { createMemoryStore } from '../core/store.ts';
import type { Contents } from '../state/contents.ts';
import type { AppOptions, Parts } from './start-stop.ts';

/**
 * Builds a simulator; nothing is bound yet.
 * @throws SimError CONFIG_INVALID for profiles, series, a proxy map or certificates that do not fit, and for faults
 * that fit no device
 */
export function createApp(config: AppConfig, options: AppOptions = {}): App {
  const ground = layGround(config, options);
  return new App(ground.config, build(ground));
}

/** Builds a simulator that nothing starts. @throws SimError CONFIG_INVALID */
function tryToBuild(config: AppConfig, contents: Contents): void {
  const logBook = createLogBook({ write: () => undefined });
  void createApp(config, { logBook, store: createMemoryStore({}, contents) }).stop();
}

/** Beyond so many devices whose kept state does not fit, all start anew. */
const maxUnfit = 8;

function layGround(start: AppConfig, options: AppOptions): Ground {
  const { wall = systemClock, later = callLater } = options;
  const logBook = options.logBook ?? createLogBook({ ...start.log, clock: wall });
  const log = logBook.logger('Lab');
  const state =
    start.stateDir === null
      ? memoryState(options.store)
      : folderState(start.stateDir, {
          log,
          wall,
          later,
          ...(options.openStateFolder && { openFolder: options.openStateFolder }),
        });
  const config = loadedLab(start, state, log);
  if (config !== start) logBook.print(config.log);
  return { start, config, options, wall, later, logBook, log, state, tryToBuild, buildBeside: createApp };
}

/** Builds the parts; where a part of the kept state does not fit, anew without it. */
function build(ground: Ground): Parts {
  const { log, state } = ground;
  const written = new Set<string>();
  let isBuilt = false;
  // further attempts do not repeat the lines of the first one
  const onceLog = filteredLogger(
    log,
    (message, device) => isBuilt || written.size < written.add(`${device} ${message}`).size,
  );
  const unfit = new Set<string>();
  for (;;) {
    try {
      const parts = assemble({ ...ground, log: onceLog }, unfit);
      isBuilt = true;
      written.clear();
      return parts;
    } catch (error) {
      if (!(error instanceof UnfitState) || unfit.has(error.part)) {
        void state.close();
        throw error;
      }
      error.report(onceLog);
      unfit.add(error.part);
      if (unfit.size > maxUnfit) unfit.add(allDevices);
    }
  }
}

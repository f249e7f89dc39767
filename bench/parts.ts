/** The parts of the program that workers run in their own process, bundled like the program itself. */
export { createApp } from '../src/app/build.ts';
export { loadConfig } from '../src/config/layers/load.ts';
export { createLogBook } from '../src/core/log/log.ts';
export { buildSnapshot, publishSnapshot } from '../src/der/device/snapshot.ts';
export { buildDocument, parseDocument } from '../src/csip/xml/codec.ts';
export { readScenario } from '../src/scenario/file/read.ts';
export { sourceOfRequest } from '../src/scenario/file/source.ts';
export { ScenarioRun } from '../src/scenario/run/run.ts';

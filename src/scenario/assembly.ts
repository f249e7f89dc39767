/** Exports for a running simulator, imported with the first scenario. */
export { allExpectations, placeText } from './model.ts';
export { captureDraft } from './draft/capture.ts';
export { timelineDraft } from './draft/timeline.ts';
export { needsPeer } from './file/needs-peer.ts';
export { layoutIssues } from './file/layout.ts';
export { configOfScenario, readingScenario, readScenario } from './file/read.ts';
export { invalidScenario, sourceOfFile, sourceOfRequest, readingSource } from './file/source.ts';
export { reportDocument } from './report/document.ts';
export { htmlPage } from './report/html.ts';
export { junitXml } from './report/junit.ts';
export { ScenarioRun } from './run/run.ts';

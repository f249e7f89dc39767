/** llms.txt of the site: one line for each page, by door. */
import { pages } from './pages.ts';
import type { Page } from './pages.ts';

const doors: Readonly<Record<Page['door'], string>> = {
  all: 'For everybody',
  modbus: 'SunSpec masters',
  csip: 'Head-ends of utilities (IEEE 2030.5)',
  ocpp: 'Central systems (OCPP)',
  dnp3: 'DNP3 masters',
  tests: 'Tests and CI',
  studies: 'Grids and devices',
  contributors: 'Contributors',
};

const entriesOf = (door: string) =>
  pages.filter((page) => page.door === door).map(({ title, file }) => `- [${title}](/${file})`);

export const llmsText = (): string =>
  [
    '# derbench',
    '',
    '> Simulator of distributed energy resources with a SunSpec register map, IEEE 2030.5, OCPP, DNP3 and REST.',
    ...Object.entries(doors).flatMap(([door, title]) => ['', `## ${title}`, '', ...entriesOf(door)]),
    '',
  ].join('\n');

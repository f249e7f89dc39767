import { tcp } from '../support/conformance/bed.ts';
import { classicControlProcedures, classicDuts, classicProcedures } from './classic.ts';
import { settingProcedures } from './settings.ts';

classicProcedures(tcp);
classicControlProcedures(tcp);
const [pv, battery] = classicDuts;
settingProcedures(tcp, [pv.type, battery.type], { map: pv.map, points: 25, groups: 2 });

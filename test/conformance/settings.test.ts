import { deviceTypes, tcp } from '../support/conformance/bed.ts';
import { settingProcedures } from './settings.ts';

settingProcedures(tcp, deviceTypes);

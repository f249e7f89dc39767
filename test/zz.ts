import { testPlant } from './support/plant.ts';
import { apiContext } from './support/api-context.ts';
import { createApi } from '../src/api/server.ts';
import { ask } from './support/http.ts';
const t = (l: string, s: number) => console.log(l, (performance.now() - s).toFixed(0));
let s = performance.now(); const plant = testPlant({types:['PV-3Phase','PV-1Phase']});
const api = createApi(apiContext({ plant }), { checkReplies: true }); t('create', s);
const { port } = await api.start();
for (const path of ['/server-info','/overview','/devices','/registers','/controls', '/registers/701','/overview?device=9']) { s = performance.now(); const a= await ask(port, '/api/sim'+path); t(path+a.status, s); }
s = performance.now(); const a = await ask(port, '/api/sim/controls/grid?device=1', {method:'POST', body:{ voltage_pu: 0.2 }}); t('post'+a.status, s);
s = performance.now(); await plant.step(1); t('step1', s);
s = performance.now(); await plant.step(40); t('step40', s);
s = performance.now(); await api.stop(); t('stop', s);

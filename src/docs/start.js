// A separate file, because the page's Content-Security-Policy forbids inline scripts.
globalThis.SwaggerUIBundle({ url: '/openapi.json', dom_id: '#viewer', deepLinking: true })

// A file of its own, because the page's Content-Security-Policy allows no script inside it.
globalThis.SwaggerUIBundle({ url: '/openapi.json', dom_id: '#viewer', deepLinking: true })

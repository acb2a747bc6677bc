//! A minimal server on rmcp that echoes one argument: what the benchmarks compare the gateway with.
//!
//! Belongs here: the least that such a server needs. Does not belong here: anything under test.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};

struct Echo;

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let text = arguments.get("marker").and_then(|marker| marker.as_str()).unwrap_or_default();
        Ok(CallToolResult::success(vec![ContentBlock::text(text.to_owned())]).into())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let session = Echo.serve(rmcp::transport::stdio()).await.expect("a session");
    session.waiting().await.expect("a clean end");
}
